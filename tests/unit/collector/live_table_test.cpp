#include "analyze/live_table.hpp"

#include "analyze/leak_classes.hpp"
#include "catch.hpp"
#include "events.hpp"

using namespace gpumem;

namespace {

EventRecord end_of_context(std::uint64_t context) {
  EventRecord event;
  event.op = "context_end";
  event.context = context;
  return event;
}

const TotalKey gpu0{0, "device"};

const CallSite& site(const LiveTable& table, std::uint64_t stack = 1) { return table.sites().at({gpu0, stack}); }

}  // namespace

TEST_CASE("what is allocated is live until it is freed") {
  LiveTable table;
  table.take(alloc(1, 10001, 0xa), false);
  table.take(alloc(2, 20002, 0xb), false);
  table.take(free_of(1), false);
  CHECK(table.totals().at(gpu0).live == Usage{1, 20002});
  CHECK(site(table).freed == Usage{1, 10001});
}

TEST_CASE("a free that stands before its alloc in the file still ends the block") {
  LiveTable table;
  table.take(free_of(1), false);
  table.take(alloc(1, 10001, 0xa), false);
  CHECK(table.totals().at(gpu0).live == Usage{});
  CHECK(site(table).freed == Usage{1, 10001});
}

TEST_CASE("an address that comes again ends the old block, and a late free line makes it freed") {
  LiveTable table;
  table.take(alloc(1, 10001, 0xa), false);
  table.take(alloc(2, 20002, 0xa), false);
  CHECK(table.totals().at(gpu0).live == Usage{1, 20002});
  CHECK(site(table).overwritten == Usage{1, 10001});
  table.take(free_of(1), false);
  CHECK(table.totals().at(gpu0).live == Usage{1, 20002});
  CHECK(site(table).overwritten == Usage{});
  CHECK(site(table).freed == Usage{1, 10001});
}

TEST_CASE("kinds and devices are never added up") {
  LiveTable table;
  table.take(alloc(1, 10001, 0xa), false);
  auto other_device = alloc(2, 20002, 0xb);
  other_device.device = 1;
  table.take(other_device, false);
  auto managed = alloc(3, 30003, 0xc);
  managed.kind = "managed";
  table.take(managed, false);
  CHECK(table.totals().size() == 3);
  CHECK(table.totals().at(gpu0).live == Usage{1, 10001});
}

TEST_CASE("a context takes with it what names it, whatever the kind, and nothing else") {
  LiveTable table;
  table.take(alloc(1, 10001, 0xa), false);
  auto async = alloc(2, 20002, 0xb);
  async.kind = "async";
  async.context.reset();
  table.take(async, false);
  auto array = alloc(4, 40004, 0xd);
  array.kind = "array";
  table.take(array, false);
  auto other_context = alloc(3, 30003, 0xc);
  other_context.context = 2;
  table.take(other_context, false);
  table.take(end_of_context(1), false);
  CHECK(site(table).dropped == Usage{1, 10001});
  CHECK(table.totals().at(gpu0).live == Usage{1, 30003});
  CHECK(table.totals().at({0, "async"}).live == Usage{1, 20002});
  CHECK(table.totals().at({0, "array"}).live == Usage{});
  CHECK(sum_of(table.context_drops().front().dropped, Counts::device_memory) == Usage{2, 50005});
}

TEST_CASE("the peak is where the shim's counter was highest, with the sites as they were just then") {
  LiveTable table;
  auto first = alloc(1, 100, 0xa, 1);
  first.live = 100;
  auto second = alloc(2, 50, 0xb, 2);
  second.live = 150;
  table.take(first, false);
  table.take(second, false);
  table.take(free_of(1), false);
  auto third = alloc(3, 20, 0xc, 2);
  third.live = 70;
  table.take(third, false);
  const Total& gpu = table.totals().at(gpu0);
  CHECK(gpu.peak.bytes == 150);
  CHECK(gpu.peak.replayed == 150);
  CHECK(gpu.peak.ns == 20);
  CHECK(site(table, 1).live.at_peak(gpu.peaks) == Usage{1, 100});
  CHECK(site(table, 2).live.at_peak(gpu.peaks) == Usage{1, 50});
  CHECK(gpu.threads.at(7).at_peak(gpu.peaks) == Usage{2, 150});
}

TEST_CASE("where lines and counter disagree, both are kept") {
  LiveTable table;
  auto event = alloc(1, 100, 0xa);
  event.live = 900;
  table.take(event, false);
  CHECK(table.totals().at(gpu0).peak.bytes == 900);
  CHECK(table.totals().at(gpu0).peak.replayed == 100);
}

TEST_CASE("a peak remembers what else was live on its device, and in host memory") {
  LiveTable table;
  auto pinned = alloc(1, 10001, 0xa);
  pinned.kind = "pinned";
  pinned.device.reset();
  auto elsewhere = alloc(2, 20002, 0xb);
  elsewhere.device = 1;
  table.take(pinned, false);
  table.take(elsewhere, false);
  table.take(alloc(3, 30003, 0xc), false);
  const auto& beside = table.totals().at(gpu0).peak.beside;
  REQUIRE(beside.size() == 1);
  CHECK(beside.front().first.kind == "pinned");
}

TEST_CASE("a failed free leaves the block live, and a later free that works clears it") {
  LiveTable table;
  table.take(alloc(1, 10001, 0xa), false);
  table.take(alloc(2, 20002, 0xb), false);
  FailureRecord failure;
  failure.kind = "device";
  failure.address = 0xa;
  table.take_failed_free(failure, false);
  const auto leaks = classify_leaks(table, 1000);
  REQUIRE(leaks.size() == 2);
  CHECK(leaks[0].what == LeakClass::held);
  CHECK(leaks[0].amount == Usage{1, 20002});
  CHECK(leaks[1].what == LeakClass::free_failed);
  CHECK(leaks[1].amount == Usage{1, 10001});
  table.take(free_of(1), false);
  CHECK(site(table).free_failed == Usage{});
}

TEST_CASE("memory freed by destructors, or refused by a driver that shuts down, is no leak") {
  LiveTable table;
  table.take(alloc(1, 10001, 0xa), false);
  table.take(alloc(2, 20002, 0xb), false);
  table.take(free_of(1), true);
  FailureRecord refused;
  refused.kind = "device";
  refused.address = 0xb;
  table.take_failed_free(refused, true);
  const auto leaks = classify_leaks(table, 1000);
  REQUIRE(leaks.size() == 1);
  CHECK(leaks[0].what == LeakClass::freed_at_exit);
  CHECK(leaks[0].amount == Usage{2, 30003});
}

TEST_CASE("a block that the shim could not keep track of is counted, and in no total") {
  LiveTable table;
  auto untracked = alloc(1, 10001, 0xa);
  untracked.block.reset();
  untracked.untracked = true;
  table.take(untracked, false);
  CHECK(table.untracked() == Usage{1, 10001});
  CHECK(table.totals().empty());
}

TEST_CASE("what is held on a device at a moment counts its memory only, largest call site first") {
  LiveTable table;
  table.take(alloc(1, 100, 0xa, 1), false);
  table.take(alloc(2, 300, 0xb, 2), false);
  auto managed = alloc(3, 50, 0xc, 3);
  managed.kind = "managed";
  table.take(managed, false);
  std::uint64_t block = 4;
  for (const char* kind : {"pinned", "reserved", "mapped", "view", "ipc", "external", "variable", "stream",
                           "graph_memory", "vmm-of-the-future"}) {
    auto other = alloc(block, 7000, block * 256, block);
    other.kind = kind;
    ++block;
    table.take(other, false);
  }
  CHECK(table.bytes_on(0) == 450);
  const auto largest = table.largest_on(0);
  REQUIRE(largest.size() == 3);
  CHECK(largest[0].key.stack == 2);
  CHECK(table.bytes_on(1) == 0);
  CHECK(table.largest_on(1).empty());
}
