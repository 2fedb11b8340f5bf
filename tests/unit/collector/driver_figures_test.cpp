#include "analyze/driver_figures.hpp"

#include "catch.hpp"
#include "events.hpp"

using namespace gpumem;

namespace {

constexpr std::uint64_t device_size = 1'000'000;

SampleRecord sample(std::uint64_t ns, std::uint64_t used, const char* why = "time") {
  SampleRecord line;
  line.ns = ns;
  line.tid = 7;
  line.device = 0;
  line.free = device_size - used;
  line.total = device_size;
  line.why = why;
  return line;
}

SampleRecord pool_sample(std::uint64_t pool, std::uint64_t reserved, std::uint64_t used) {
  SampleRecord line;
  line.ns = 77;
  line.device = 0;
  line.pool = pool;
  line.pool_held = {reserved, used};
  return line;
}

// Events and samples in the order of a journal.
struct Replay {
  LiveTable live;
  DriverFigures figures;

  void take(const EventRecord& event) {
    figures.take(event, live);
    live.take(event, false);
  }
  void take(const SampleRecord& line) { figures.take(line, live); }

  const DeviceFigures& gpu0() {
    figures.finish(live);
    return figures.devices().at(0);
  }
};

EventRecord event_of(const char* op, std::uint64_t stack) {
  EventRecord event;
  event.op = op;
  event.tid = 7;
  event.stack = stack;
  return event;
}

}  // namespace

TEST_CASE("what the driver calls used is explained by live device memory, and by nothing else") {
  Replay journal;
  journal.take(alloc(1, 1000, 0xa));
  journal.take(alloc_of_kind("array", 2, 500, 0xb));
  journal.take(alloc_of_kind("ipc", 3, 7000, 0xc));
  journal.take(alloc_of_kind("reserved", 4, 9000, 0xd));
  journal.take(sample(50, 5000));
  journal.take(free_of(1));
  journal.take(sample(60, 4500));
  const auto& moments = journal.gpu0().moments;
  REQUIRE(moments.size() == 2);
  CHECK(moments[0].ledger == 1500);
  CHECK(moments[0].unexplained() == 3500);
  CHECK(moments[1].ledger == 500);
  CHECK(moments[1].unexplained() == 4000);
}

TEST_CASE("a pool explains what it has reserved, or its live blocks where these are more") {
  Replay journal;
  journal.take(alloc_of_kind("async", 1, 300, 0xa));
  auto line = sample(50, 5000);
  line.pool_held = {1000, 300};
  journal.take(line);
  journal.take(alloc_of_kind("async", 2, 1200, 0xb));
  journal.take(sample(60, 5000));
  CHECK(journal.gpu0().moments[0].ledger == 1000);
  CHECK(journal.gpu0().moments[1].ledger == 1500);
}

TEST_CASE("each pool counts for itself, from the lines of the same moment, until it is destroyed") {
  Replay journal;
  journal.take(alloc_of_kind("pool", 1, 0, 0x55));
  auto block = alloc_of_kind("async", 2, 100, 0xa);
  block.owner = 1;
  journal.take(block);
  journal.take(alloc_of_kind("async", 3, 40, 0xb));
  auto line = sample(50, 5000);
  line.pool_held = {64, 40};
  journal.take(line);
  journal.take(pool_sample(1, 500, 100));
  CHECK(journal.figures.reservations().back().parked() == 400);
  CHECK(journal.figures.reservations().back().stack == 1);
  journal.take(free_of(1));
  journal.take(sample(60, 5000));
  CHECK(journal.gpu0().moments[0].ledger == 564);
  CHECK(journal.gpu0().moments[1].ledger == 140);
}

TEST_CASE("the current pool can be one that the program made, whose blocks name it") {
  Replay journal;
  journal.take(alloc_of_kind("pool", 1, 0, 0x55));
  auto block = alloc_of_kind("async", 2, 300, 0xa);
  block.owner = 1;
  journal.take(block);
  auto line = sample(50, 5000);
  line.pool_held = {1000, 300};
  journal.take(line);
  CHECK(journal.gpu0().moments[0].ledger == 1000);
}

TEST_CASE("graph memory explains what the driver has reserved for graphs, not what was promised") {
  Replay journal;
  journal.take(alloc_of_kind("graph_memory", 1, 9000, 0xa));
  auto line = sample(50, 5000);
  line.graphs_held = {2000, 1500};
  journal.take(line);
  CHECK(journal.gpu0().moments[0].ledger == 2000);
  CHECK(journal.figures.reservations().front().parked() == 500);
}

TEST_CASE("a rise that no call explains is put down to what the sample was taken for") {
  Replay journal;
  journal.take(sample(10, 100, "context"));
  journal.take(alloc_of_kind("library", 1, 0, 0x55));
  journal.take(sample(20, 150, "code"));
  journal.take(sample(30, 170, "launch"));
  journal.take(sample(40, 180, "launch"));
  auto limit = event_of("limit", 9);
  limit.limit = 0;
  journal.take(limit);
  journal.take(sample(50, 300, "limit"));
  journal.take(sample(60, 900, "time"));
  const auto& rises = journal.gpu0().rises;
  REQUIRE(rises.size() == 4);
  CHECK(rises[0].bytes == 50);
  CHECK(rises[0].cause->stack == 1);
  CHECK(rises[1].is_first_launch);
  CHECK_FALSE(rises[1].cause.has_value());
  CHECK_FALSE(rises[2].is_first_launch);
  CHECK(rises[3].bytes == 120);
  CHECK(rises[3].since_ns == 40);
  CHECK(rises[3].cause->stack == 9);
}

TEST_CASE("a rise that calls explain is none, and a cause is not used twice") {
  Replay journal;
  journal.take(sample(10, 100, "context"));
  journal.take(alloc_of_kind("module", 1, 0, 0x55));
  journal.take(alloc(2, 50, 0xa));
  journal.take(sample(20, 150, "code"));
  CHECK(journal.gpu0().rises.empty());
  journal.take(sample(30, 200, "code"));
  REQUIRE(journal.gpu0().rises.size() == 1);
  CHECK_FALSE(journal.gpu0().rises[0].cause.has_value());
}

TEST_CASE("a sample without figures of the device is no moment") {
  Replay journal;
  auto line = sample(10, 100);
  line.free.reset();
  journal.take(line);
  journal.figures.finish(journal.live);
  CHECK(journal.figures.devices().empty());
}
