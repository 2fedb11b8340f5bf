#include "analyze/pointer_history.hpp"

#include "analyze/live_table.hpp"
#include "catch.hpp"
#include "events.hpp"

using namespace gpumem;

namespace {

FailureRecord failed(const char* api, std::uint64_t address) {
  FailureRecord failure;
  failure.tried = "free";
  failure.api = api;
  failure.address = address;
  return failure;
}

}  // namespace

TEST_CASE("a failed free is told whether its address is live, was freed, or was never handed out") {
  LiveTable table;
  FailureRecord failure;  // a line that names no kind
  failure.address = 0xa;
  CHECK_FALSE(table.take_failed_free(failure, false).ended.has_value());
  table.take(alloc(1, 10001, 0xa), false);
  CHECK(table.take_failed_free(failure, false).live.has_value());
  auto freed = free_of(1, 777);
  freed.stack = 5;
  table.take(freed, false);
  const auto history = table.take_failed_free(failure, false);
  CHECK_FALSE(history.live.has_value());
  REQUIRE(history.ended.has_value());
  CHECK(history.ended->ns == 777);
  CHECK(history.ended->stack == 5);
}

TEST_CASE("only so many ended addresses are remembered, the oldest go first") {
  LiveTable table;
  for (std::uint64_t i = 1; i <= EndedBlocks::most + 1; ++i) {
    table.take(alloc(i, 1, i * 16), false);
    table.take(free_of(i, i), false);
  }
  FailureRecord failure;
  failure.address = 16;
  CHECK_FALSE(table.take_failed_free(failure, false).ended.has_value());
  failure.address = 32;
  CHECK(table.take_failed_free(failure, false).ended.has_value());
}

TEST_CASE("a live block that another function gives back is told by its kind") {
  const struct {
    const char* kind;
    const char* wrong;
    const char* right;
  } cases[] = {
      {"pinned", "cudaFree", "cudaFreeHost"},         {"mapped", "cuMemFree_v2", "cuMemUnmap"},
      {"array", "cudaFree", "cudaFreeArray"},         {"async", "cudaFreeHost", "cuMemFreeAsync_ptsz"},
      {"ipc", "cudaFree", "cuIpcCloseMemHandle"},     {"stream", "cudaFree", "cuStreamDestroy_v2"},
      {"reserved", "cuMemUnmap", "cuMemAddressFree"}, {"registered", "cudaFreeHost", "cudaHostUnregister"},
      {"mapped", "cuMemRelease", "cuMemUnmap"},       {"device", "cudaFreeAsync", "cudaFree"},
      {"physical", "cuMemUnmap", "cuMemRelease"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.kind);
    LiveTable table;
    table.take(alloc_of_kind(each.kind, 1, 10001, 0xa), false);
    const auto wrong = table.history_of(failed(each.wrong, 0xa));
    REQUIRE(wrong.live.has_value());
    CHECK(wrong.live->total.kind == each.kind);
    CHECK_FALSE(wrong.live->is_right_function);
    CHECK(table.history_of(failed(each.right, 0xa)).live->is_right_function);
  }
}

TEST_CASE("of several blocks at one address the one is meant that the function is for") {
  LiveTable table;
  table.take(alloc_of_kind("reserved", 1, 1 << 30, 0xa), false);
  table.take(alloc_of_kind("mapped", 2, 1 << 20, 0xa), false);
  CHECK(table.history_of(failed("cuMemAddressFree", 0xa)).live->total.kind == "reserved");
  CHECK(table.history_of(failed("cuMemUnmap", 0xa)).live->total.kind == "mapped");
  CHECK(table.history_of(failed("cuMemFree_v2", 0xa)).live->total.kind == "mapped");
  table.take(free_of(2), false);
  CHECK(table.history_of(failed("cuMemFree_v2", 0xa)).live->total.kind == "reserved");
}

TEST_CASE("an object whose handle is the number of a freed address does not hide how that was freed") {
  LiveTable table;
  table.take(alloc_of_kind("device", 1, 100, 0xa), false);
  table.take(free_of(1, 500), false);
  table.take(alloc_of_kind("stream", 2, 0, 0xa), false);
  table.take(free_of(2, 900), false);
  const auto history = table.history_of(failed("cudaFree", 0xa));
  REQUIRE(history.ended.has_value());
  CHECK(history.ended->kind == "device");
  CHECK(history.ended->ns == 500);
}
