// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t capacity = std::size_t{16} << 30;
constexpr std::size_t overhead = 400 * mib;

}  // namespace

TEST_CASE("a context costs memory, and what needs one says when there is none") {
  const fresh_driver cuda;
  REQUIRE(CU(cuda, cuInit, 0) == 0);
  device_ptr address = 0;
  context* current = nullptr;
  CHECK(CU(cuda, cuMemAlloc_v2, &address, 1) == 201);
  CHECK(CU(cuda, cuCtxGetCurrent, &current) == 0);
  CHECK(current == nullptr);
  CHECK(CU(cuda, cuCtxCreate_v2, &current, 0, 7) == 101);
  CHECK(CU(cuda, cuCtxCreate_v2, nullptr, 0, 0) == 1);
  context* made = nullptr;
  REQUIRE(CU(cuda, cuCtxCreate_v4, &made, nullptr, 0, 0) == 0);
  CHECK(CU(cuda, cuCtxGetCurrent, &current) == 0);
  CHECK(current == made);
  CHECK(cuda.free_bytes() == capacity - overhead);
}

TEST_CASE("a context that does not fit is out of memory") {
  const fresh_driver cuda(R"({"devices": [{"capacity": 1073741824, "other_processes": [{"pid": 7, "name": "x",
      "used_bytes": 900000000}]}]})");
  REQUIRE(CU(cuda, cuInit, 0) == 0);
  context* made = nullptr;
  CHECK(CU(cuda, cuCtxCreate_v2, &made, 0, 0) == 2);
  CHECK(CU(cuda, cuDevicePrimaryCtxRetain, &made, 0) == 2);
}

TEST_CASE("an exclusive device that another process uses is unavailable") {
  const fresh_driver cuda(
      R"({"devices": [{"compute_mode": "exclusive_process", "other_processes": [{"used_bytes": 1}]}]})");
  REQUIRE(CU(cuda, cuInit, 0) == 0);
  context* made = nullptr;
  CHECK(CU(cuda, cuCtxCreate_v2, &made, 0, 0) == 46);
}

TEST_CASE("the end of a context frees its memory, but not stream-ordered memory") {
  const fresh_driver cuda;
  context* keeps = cuda.start();
  context* dies = nullptr;
  REQUIRE(CU(cuda, cuCtxCreate_v2, &dies, 0, 0) == 0);
  device_ptr linear = 0, pitched = 0, managed = 0, ordered = 0;
  std::size_t pitch = 0;
  void* pinned = nullptr;
  REQUIRE(CU(cuda, cuMemAlloc_v2, &linear, 10 * mib) == 0);
  REQUIRE(CU(cuda, cuMemAllocPitch_v2, &pitched, &pitch, 1000, 100, 4) == 0);
  CHECK(pitch == 1024);
  REQUIRE(CU(cuda, cuMemAllocManaged, &managed, mib, 1) == 0);
  REQUIRE(CU(cuda, cuMemHostAlloc, &pinned, mib, 0) == 0);
  REQUIRE(CU(cuda, cuMemAllocAsync, &ordered, 2 * mib, nullptr) == 0);
  REQUIRE(CU(cuda, cuCtxDestroy_v2, dies) == 0);
  context* current = nullptr;
  REQUIRE(CU(cuda, cuCtxGetCurrent, &current) == 0);
  CHECK(current == keeps);
  CHECK(cuda.free_bytes() == capacity - overhead - 2 * mib);
  CHECK(CU(cuda, cuMemFree_v2, linear) == 1);
  CHECK(CU(cuda, cuMemFree_v2, managed) == 1);
  CHECK(CU(cuda, cuMemFreeHost, pinned) == 1);
  CHECK(CU(cuda, cuMemFree_v2, ordered) == 0);
  CHECK(CU(cuda, cuCtxDestroy_v2, dies) == 709);
}

TEST_CASE("a greater limit costs memory, which only the end of the context gives back") {
  const fresh_driver cuda(R"({"devices": [{"capacity": 1073741824, "context_overhead": 0, "multiprocessors": 10}]})");
  context* made = cuda.start();
  constexpr int stack = 0, heap = 2, nested_depth = 3;
  const std::size_t all = cuda.free_bytes();
  REQUIRE(CU(cuda, cuCtxSetLimit, stack, 2048) == 0);  // 1 KiB more for each of 10 · 2048 threads
  CHECK(cuda.free_bytes() == all - 20 * mib);
  REQUIRE(CU(cuda, cuCtxSetLimit, stack, 1024) == 0);
  REQUIRE(CU(cuda, cuCtxSetLimit, stack, 2048) == 0);
  CHECK(cuda.free_bytes() == all - 20 * mib);
  REQUIRE(CU(cuda, cuCtxSetLimit, heap, 64 * mib) == 0);
  CHECK(cuda.free_bytes() == all - 76 * mib);
  REQUIRE(CU(cuda, cuCtxSetLimit, nested_depth, 24) == 0);
  CHECK(cuda.free_bytes() == all - 76 * mib);
  CHECK(CU(cuda, cuCtxSetLimit, heap, 4096 * mib) == 2);
  std::size_t value = 0;
  CHECK(CU(cuda, cuCtxGetLimit, &value, heap) == 0);
  CHECK(value == 64 * mib);
  REQUIRE(CU(cuda, cuCtxDestroy_v2, made) == 0);
  cuda.start();
  CHECK(cuda.free_bytes() == all);
}

TEST_CASE("another thread's context that was destroyed is recognised") {
  const fresh_driver cuda;
  context* made = cuda.start();
  std::thread([&] { CHECK(CU(cuda, cuCtxDestroy_v2, made) == 0); }).join();
  device_ptr address = 0;
  CHECK(CU(cuda, cuMemAlloc_v2, &address, 1) == 709);
}

TEST_CASE("the primary context is counted, keeps its handle and can be reset") {
  const fresh_driver cuda;
  REQUIRE(CU(cuda, cuInit, 0) == 0);
  context *first = nullptr, *second = nullptr;
  unsigned flags = 0;
  int active = -1;
  CHECK(CU(cuda, cuDevicePrimaryCtxRelease_v2, 0) == 201);
  REQUIRE(CU(cuda, cuDevicePrimaryCtxRetain, &first, 0) == 0);
  REQUIRE(CU(cuda, cuDevicePrimaryCtxRetain, &second, 0) == 0);
  CHECK(first == second);
  CHECK(CU(cuda, cuCtxSetCurrent, first) == 0);
  CHECK(CU(cuda, cuCtxDestroy_v2, first) == 201);
  CHECK(CU(cuda, cuDevicePrimaryCtxRelease_v2, 0) == 0);
  CHECK(cuda.free_bytes() == capacity - overhead);
  CHECK(CU(cuda, cuDevicePrimaryCtxReset_v2, 0) == 0);
  CHECK(CU(cuda, cuDevicePrimaryCtxGetState, 0, &flags, &active) == 0);
  CHECK(active == 0);
  std::size_t free = 0, total = 0;
  CHECK(CU(cuda, cuMemGetInfo_v2, &free, &total) == 709);
  REQUIRE(CU(cuda, cuDevicePrimaryCtxRetain, &second, 0) == 0);
  CHECK(first == second);
  CHECK(cuda.free_bytes() == capacity - overhead);
}

TEST_CASE("the stack of contexts is the thread's own") {
  const fresh_driver cuda;
  context* made = cuda.start();
  context* popped = nullptr;
  CHECK(CU(cuda, cuCtxPushCurrent_v2, reinterpret_cast<context*>(&popped)) == 201);
  std::thread([&] {
    CHECK(CU(cuda, cuCtxPopCurrent_v2, &popped) == 201);
    CHECK(CU(cuda, cuCtxPushCurrent_v2, made) == 0);
  }).join();
  CHECK(CU(cuda, cuCtxPopCurrent_v2, &popped) == 0);
  CHECK(popped == made);
  CHECK(CU(cuda, cuCtxPopCurrent_v2, &popped) == 201);
}
