#include "analyze/kinds.hpp"

#include "analyze/leak_classes.hpp"
#include "analyze/live_table.hpp"
#include "catch.hpp"
#include "events.hpp"
#include "render/units.hpp"

using namespace gpumem;

TEST_CASE("objects are counted, never measured in bytes") {
  CHECK(amount_text("stream", {3, 3}) == "3 streams");
  CHECK(amount_text("library", {2, 2}) == "2 libraries");
  CHECK(quantity_text("event", 1) == "1 event");
  CHECK(amount_text("array", {2, 2048}) == "2 blocks, 2.0 KiB of arrays");
}

TEST_CASE("a kind that is not known is shown by its name and is in no sum") {
  CHECK(kind_text("vmm\n") == "\"vmm\\n\" (a kind that this gpumem does not know)");
  Sums sums;
  add_to(sums, "vmm", {1, 4096});
  CHECK(sums.empty());
  CHECK_FALSE(is_memory("vmm"));
  CHECK_FALSE(is_object("vmm"));
}

TEST_CASE("only amounts that count the same are added up") {
  Sums sums;
  add_to(sums, "device", {1, 1024});
  add_to(sums, "array", {1, 1024});
  add_to(sums, "pinned", {1, 4096});
  add_to(sums, "stream", {2, 2});
  CHECK(sum_of(sums, Counts::device_memory) == Usage{2, 2048});
  CHECK(sums_text(sums) == "2 blocks, 2.0 KiB of device memory; 1 block, 4.0 KiB of host memory; 2 objects");
}

TEST_CASE("an object counts as one, whatever size its line gives, at the peak and as a leak") {
  LiveTable table;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    auto stream = alloc_of_kind("stream", i, i == 1 ? 77 : 0, i);
    stream.live = i;
    table.take(stream, false);
  }
  table.take(free_of(2), false);
  CHECK(table.totals().at({0, "stream"}).peak.bytes == 3);
  CHECK(table.totals().at({0, "stream"}).peak.replayed == 3);
  const auto leaks = classify_leaks(table, 1000);
  REQUIRE(leaks.size() == 1);
  CHECK(leaks[0].amount == Usage{2, 2});
}

TEST_CASE("a peak stands beside memory only") {
  LiveTable table;
  table.take(alloc_of_kind("array", 1, 100, 0xa), false);
  table.take(alloc_of_kind("stream", 2, 0, 0xb), false);
  table.take(alloc_of_kind("mapped", 3, 100, 0xc), false);
  table.take(alloc_of_kind("vmm", 4, 100, 0xd), false);
  table.take(alloc(5, 100, 0xe), false);
  const auto& beside = table.totals().at({0, "device"}).peak.beside;
  REQUIRE(beside.size() == 1);
  CHECK(beside.front().first.kind == "array");
}

TEST_CASE("an address that comes again ends the old block only within its address space") {
  LiveTable table;
  table.take(alloc_of_kind("reserved", 1, 100, 0xa), false);
  table.take(alloc_of_kind("mapped", 2, 100, 0xa), false);
  table.take(alloc_of_kind("stream", 3, 0, 0xa), false);
  table.take(alloc_of_kind("physical", 4, 100, 0xa), false);
  table.take(alloc_of_kind("device", 5, 100, 0xa), false);
  for (const char* kind : {"reserved", "mapped", "stream", "physical", "device"}) {
    CAPTURE(kind);
    CHECK(table.totals().at({0, kind}).live.blocks == 1);
  }
  table.take(alloc_of_kind("async", 6, 100, 0xa), false);
  CHECK(table.totals().at({0, "device"}).live.blocks == 0);
  CHECK(table.totals().at({0, "mapped"}).live.blocks == 1);
}

TEST_CASE("a reference keeps a block live, and is counted until it is given back") {
  LiveTable table;
  table.take(alloc_of_kind("ipc", 1, 100, 0xa), false);
  auto reference = free_of(1);
  reference.op = "ref";
  reference.references = 3;
  table.take(reference, false);
  CHECK(table.totals().at({0, "ipc"}).live == Usage{1, 100});
  CHECK(classify_leaks(table, 1000).front().further_references == 2);
  reference.op = "unref";
  reference.references = 2;
  table.take(reference, false);
  CHECK(table.totals().at({0, "ipc"}).live == Usage{1, 100});
  CHECK(classify_leaks(table, 1000).front().further_references == 1);
  table.take(free_of(1), false);
  CHECK(table.sites().at({{0, "ipc"}, 1}).further_references == 0);
}

TEST_CASE("a leak knows what it belongs to, and that others may keep it") {
  LiveTable table;
  table.take(alloc_of_kind("physical", 1, 100, 0x1), false);
  auto mapping = alloc_of_kind("mapped", 2, 100, 0xa);
  mapping.owner = 1;
  mapping.stack = 2;
  table.take(mapping, false);
  auto exported = free_of(1);
  exported.op = "export";
  table.take(exported, false);
  table.take(exported, false);
  const auto leaks = classify_leaks(table, 1000);
  REQUIRE(leaks.size() == 2);
  const auto& of_mapping = leaks[leaks[0].site.total.kind == "mapped" ? 0 : 1];
  const auto& of_memory = leaks[leaks[0].site.total.kind == "mapped" ? 1 : 0];
  REQUIRE(of_mapping.owner.has_value());
  CHECK(of_mapping.owner->total.kind == "physical");
  CHECK(of_memory.exported == 1);
  CHECK(of_mapping.exported == 0);
}
