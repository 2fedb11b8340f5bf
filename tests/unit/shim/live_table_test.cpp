#include "track/live_table.hpp"

#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "catch.hpp"

using namespace gpumem;

namespace {

std::unique_ptr<LiveTable> table_with_memory() {
  Arena::set_budget(64 << 20);
  return std::make_unique<LiveTable>();
}

Block block_at(std::uint64_t address, std::uint64_t size, MemoryKind kind = MemoryKind::device,
               std::uint32_t context = 1) {
  Block block;
  block.address = address;
  block.size = size;
  block.number = address * 3;
  block.context = context;
  block.device = 0;
  block.kind = kind;
  block.space = address_space(kind);
  return block;
}

}  // namespace

TEST_CASE("a block is taken once, with what it was inserted with") {
  auto table = table_with_memory();
  Block displaced, taken;
  CHECK(table->insert(block_at(0x1000, 77), displaced) == LiveTable::Inserted::fresh);
  REQUIRE(table->take(AddressSpace::device, 0x1000, taken));
  CHECK(taken.size == 77);
  CHECK(taken.number == 0x3000);
  CHECK_FALSE(table->take(AddressSpace::device, 0x1000, taken));
}

TEST_CASE("host and device addresses are two spaces") {
  auto table = table_with_memory();
  Block displaced, taken;
  table->insert(block_at(0x1000, 1), displaced);
  CHECK(table->insert(block_at(0x1000, 2, MemoryKind::pinned), displaced) == LiveTable::Inserted::fresh);
  REQUIRE(table->take(AddressSpace::host, 0x1000, taken));
  CHECK(taken.size == 2);
  REQUIRE(table->take(AddressSpace::device, 0x1000, taken));
  CHECK(taken.size == 1);
}

TEST_CASE("a live address that is handed out again displaces the old block") {
  auto table = table_with_memory();
  Block displaced, taken;
  table->insert(block_at(0x1000, 10), displaced);
  CHECK(table->insert(block_at(0x1000, 20, MemoryKind::managed), displaced) == LiveTable::Inserted::replaced);
  CHECK(displaced.size == 10);
  REQUIRE(table->take(AddressSpace::device, 0x1000, taken));
  CHECK(taken.size == 20);
}

TEST_CASE("impossible addresses are unknown") {
  auto table = table_with_memory();
  Block taken;
  CHECK_FALSE(table->take(AddressSpace::device, 0, taken));
  CHECK_FALSE(table->take(AddressSpace::device, 1, taken));
}

TEST_CASE("what is taken by a condition is what it holds for, and nothing else") {
  auto table = table_with_memory();
  Block displaced, taken;
  for (std::uint64_t i = 1; i <= 1000; ++i) table->insert(block_at(i * 512, i, MemoryKind::device, i % 2), displaced);
  table->insert(block_at(0x900000, 5, MemoryKind::async, 0), displaced);
  table->insert(block_at(0x900000, 6, MemoryKind::pinned, 0), displaced);
  std::uint64_t blocks = 0, bytes = 0;
  table->take_where([](const Block& block) { return block.context == 1; },
                    [&](const Block& block) { ++blocks, bytes += block.size; });
  CHECK(blocks == 500);
  CHECK(bytes == 250000);
  CHECK_FALSE(table->take(AddressSpace::device, 1 * 512, taken));
  CHECK(table->take(AddressSpace::device, 2 * 512, taken));
  CHECK(table->take(AddressSpace::device, 0x900000, taken));
  CHECK(table->take(AddressSpace::host, 0x900000, taken));
}

TEST_CASE("a random mix agrees with std::map, through growth and deletions") {
  auto table = table_with_memory();
  std::map<std::uint64_t, std::uint64_t> model;
  std::mt19937_64 random(42);
  for (int step = 0; step < 200000; ++step) {
    const std::uint64_t address = (random() % 4096 + 1) * 256;
    Block displaced, taken;
    if (random() % 2 == 0) {
      const std::uint64_t size = random() % 1000;
      const bool present = model.count(address) != 0;
      REQUIRE(table->insert(block_at(address, size), displaced) ==
              (present ? LiveTable::Inserted::replaced : LiveTable::Inserted::fresh));
      if (present) REQUIRE(displaced.size == model[address]);
      model[address] = size;
    } else {
      const auto known = model.find(address);
      REQUIRE(table->take(AddressSpace::device, address, taken) == (known != model.end()));
      if (known != model.end()) {
        REQUIRE(taken.size == known->second);
        model.erase(known);
      }
    }
  }
}

TEST_CASE("blocks that come and go at ever new addresses take no more memory") {
  Arena::set_budget(2 * 1024 * 1024);
  auto table = std::make_unique<LiveTable>();
  for (std::uint64_t i = 1; i < 2'000'000; ++i) {
    Block displaced, taken;
    REQUIRE(table->insert(block_at(i * 512, 64), displaced) == LiveTable::Inserted::fresh);
    if (i > 8) REQUIRE(table->take(AddressSpace::device, (i - 8) * 512, taken));
  }
}

TEST_CASE("without memory left an insertion says so and changes nothing") {
  Arena::set_budget(128 * 1024);
  auto table = std::make_unique<LiveTable>();
  Block displaced, taken;
  std::vector<std::uint64_t> kept;
  bool refused = false;
  for (std::uint64_t i = 1; i < 100000; ++i) {
    if (table->insert(block_at(i * 256, i), displaced) == LiveTable::Inserted::no_memory) {
      refused = true;
    } else {
      kept.push_back(i);
    }
  }
  CHECK(refused);
  for (const std::uint64_t i : kept) {
    REQUIRE(table->take(AddressSpace::device, i * 256, taken));
    REQUIRE(taken.size == i);
  }
}

TEST_CASE("threads that hand addresses on lose no block and double none") {
  auto table = table_with_memory();
  constexpr int threads = 4, rounds = 50000;
  std::atomic<std::uint64_t> inserted{0}, ended{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      std::mt19937_64 random(static_cast<unsigned>(t));
      for (int i = 0; i < rounds; ++i) {
        const std::uint64_t address = (random() % 64 + 1) * 256;
        Block displaced, taken;
        if (random() % 2 == 0) {
          if (table->insert(block_at(address, 1), displaced) == LiveTable::Inserted::replaced) ++ended;
          ++inserted;
        } else if (table->take(AddressSpace::device, address, taken)) {
          ++ended;
        }
      }
    });
  for (std::thread& worker : workers) worker.join();
  table->take_where([](const Block& block) { return block.context == 1; }, [&](const Block&) { ++ended; });
  CHECK(inserted == ended);
}

TEST_CASE("the parts of the table hold every block once, about equally many") {
  auto table = table_with_memory();
  constexpr std::uint64_t blocks = 100'000;
  Block displaced;
  for (std::uint64_t i = 1; i <= blocks; ++i) table->insert(block_at(i * 512, i), displaced);
  CHECK(table->size() == blocks);
  std::vector<int> seen(blocks + 1);
  std::size_t largest = 0;
  for (std::size_t part = 0; part < LiveTable::part_count; ++part) {
    std::size_t count = 0;
    table->for_each_in_part(part, [&](const Block& block) {
      ++seen[block.size];
      ++count;
      return true;
    });
    largest = std::max(largest, count);
  }
  seen[0] = 1;
  CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
  CHECK(largest < 2 * blocks / LiveTable::part_count);
  std::size_t taken = 0;
  table->for_each_in_part(0, [&](const Block&) { return ++taken < 5; });
  CHECK(taken == 5);
}
