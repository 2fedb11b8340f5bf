#include "track/sites.hpp"

#include <memory>
#include <thread>
#include <vector>

#include "catch.hpp"

using namespace gpumem;

namespace {

std::uint32_t number_of(Sites& sites, std::uint32_t stack, MemoryKind kind, int device) {
  const Site* site = sites.site_of(stack, kind, device);
  return site != nullptr ? site->number : 0;
}

void allocate(Sites& sites, std::uint32_t number, std::uint64_t amount, std::uint64_t ns) {
  const Site* site = sites.at(number);
  Sites::allocated(site != nullptr ? sites.site_of(site->stack, site->kind, site->device) : nullptr, amount, ns);
}

std::unique_ptr<Sites> sites_with_memory() {
  Arena::set_budget(64 << 20);
  return std::make_unique<Sites>();
}

}  // namespace

TEST_CASE("a site is one stack, one kind and one device") {
  auto sites = sites_with_memory();
  const std::uint32_t first = number_of(*sites, 7, MemoryKind::device, 0);
  CHECK(first == 1);
  CHECK(number_of(*sites, 7, MemoryKind::device, 0) == first);
  CHECK(number_of(*sites, 8, MemoryKind::device, 0) != first);
  CHECK(number_of(*sites, 7, MemoryKind::managed, 0) != first);
  CHECK(number_of(*sites, 7, MemoryKind::device, 1) != first);
  CHECK(number_of(*sites, 7, MemoryKind::device, no_device) != first);
  CHECK(sites->count() == 5);
  REQUIRE(sites->at(first) != nullptr);
  CHECK(sites->at(first)->stack == 7);
  CHECK(sites->at(0) == nullptr);
  CHECK(sites->at(6) == nullptr);
}

TEST_CASE("a site tells what it holds and what it has ever allocated") {
  auto sites = sites_with_memory();
  const std::uint32_t number = number_of(*sites, 1, MemoryKind::device, 0);
  allocate(*sites, number, 100, 5);
  allocate(*sites, number, 50, 9);
  sites->ended(number, 100);
  const Site& site = *sites->at(number);
  CHECK(site.live == 50);
  CHECK(site.blocks == 1);
  CHECK(site.allocated == 150);
  CHECK(site.allocs == 2);
  CHECK(site.first_ns == 5);
  CHECK(site.last_ns == 9);
  sites->came_back(number, 100);
  CHECK(site.live == 150);
  CHECK(site.blocks == 2);
  CHECK(site.allocated == 150);
}

TEST_CASE("the snapshot is within one part in a hundred of the peak of its device, and adds up") {
  auto sites = sites_with_memory();
  const std::uint32_t a = number_of(*sites, 1, MemoryKind::device, 0), b = number_of(*sites, 2, MemoryKind::async, 0),
                      elsewhere = number_of(*sites, 1, MemoryKind::device, 1),
                      addresses = number_of(*sites, 1, MemoryKind::reserved, 0);
  allocate(*sites, elsewhere, 1 << 20, 0);
  allocate(*sites, addresses, 1 << 20, 0);
  std::uint64_t live = 0;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    allocate(*sites, i % 4 == 0 ? b : a, i, i);
    live += i;
    sites->note_sum(0, live, i);
    const Sites::Snapshot taken = sites->snapshot(0);
    REQUIRE(taken.bytes * 101 >= live * 100);
    REQUIRE(taken.bytes <= live);
    REQUIRE(sites->at(a)->at_peak + sites->at(b)->at_peak == taken.bytes);
  }
  const Sites::Snapshot peak = sites->snapshot(0);
  sites->ended(a, sites->at(a)->live);
  sites->note_sum(0, sites->at(b)->live, 2000);
  CHECK(sites->snapshot(0).ns == peak.ns);
  CHECK(sites->at(elsewhere)->at_peak == 0);
  CHECK(sites->at(addresses)->at_peak == 0);
  CHECK(sites->snapshot(1).bytes == 0);
}

TEST_CASE("threads' counts add up, and no site is made twice") {
  auto sites = sites_with_memory();
  constexpr unsigned threads = 4, rounds = 20000, stacks = 500;
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      for (unsigned i = 0; i < rounds; ++i) {
        const std::uint32_t number = number_of(*sites, 1 + (i * 7 + t) % stacks, MemoryKind::device, 0);
        allocate(*sites, number, 3, i);
        if (i % 2 == 0) sites->ended(number, 3);
      }
    });
  for (std::thread& worker : workers) worker.join();
  CHECK(sites->count() == stacks);
  std::uint64_t live = 0, allocs = 0;
  for (std::uint32_t number = 1; number <= stacks; ++number) {
    live += sites->at(number)->live;
    allocs += sites->at(number)->allocs;
  }
  CHECK(allocs == threads * rounds);
  CHECK(live == 3 * threads * rounds / 2);
}

TEST_CASE("without memory left a site has no number, and counting it does nothing") {
  Arena::set_budget(64 * 1024);
  auto sites = std::make_unique<Sites>();
  std::uint32_t stack = 1;
  while (number_of(*sites, stack, MemoryKind::device, 0) != 0) ++stack;
  allocate(*sites, 0, 1, 1);
  sites->ended(0, 1);
  CHECK(number_of(*sites, 1, MemoryKind::device, 0) == 1);
  Arena::set_budget(64 << 20);
}
