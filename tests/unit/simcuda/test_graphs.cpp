// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr int global = 0, relaxed = 2;
const std::string small_device =
    R"({"devices": [{"capacity": 104857600, "context_overhead": 20971520}]})";  // 100, 20 MiB

stream* make_stream(const fresh_driver& cuda) {
  stream* made = nullptr;
  REQUIRE(CU(cuda, cuStreamCreate, &made, 1) == 0);
  return made;
}

std::uint64_t attribute(const fresh_driver& cuda, int number) {
  std::uint64_t value = 0;
  REQUIRE(CU(cuda, cuDeviceGetGraphMemAttribute, 0, number, &value) == 0);
  return value;
}

}  // namespace

TEST_CASE("an asynchronous allocation in a capture gets its memory at the launch") {
  const fresh_driver cuda(small_device);
  cuda.start();
  stream* queue = make_stream(cuda);
  graph* captured = nullptr;
  executable_graph* work = nullptr;
  device_ptr block = 0;
  int state = 0;
  REQUIRE(CU(cuda, cuStreamBeginCapture_v2, queue, global) == 0);
  REQUIRE(CU(cuda, cuMemAllocAsync, &block, 5 * mib, queue) == 0);
  CHECK(block != 0);
  CHECK(CU(cuda, cuStreamIsCapturing, queue, &state) == 0);
  CHECK(state == 1);
  CHECK(CU(cuda, cuMemsetD8Async, block, 7, 4, queue) == 0);
  REQUIRE(CU(cuda, cuStreamEndCapture, queue, &captured) == 0);
  CHECK(cuda.free_bytes() == 80 * mib);
  CHECK(CU(cuda, cuMemsetD8_v2, block, 1, 1) == 1);
  std::size_t count = 0;
  CHECK(CU(cuda, cuGraphGetNodes, captured, nullptr, &count) == 0);
  CHECK(count == 2);
  REQUIRE(CU(cuda, cuGraphInstantiateWithFlags, &work, captured, 0) == 0);
  CHECK(cuda.free_bytes() == 80 * mib);
  REQUIRE(CU(cuda, cuGraphLaunch, work, queue) == 0);
  CHECK(cuda.free_bytes() == 74 * mib);
  CHECK(attribute(cuda, 0) == 5 * mib);
  CHECK(attribute(cuda, 2) == 6 * mib);
  char back[4] = {};
  CHECK(CU(cuda, cuMemcpyDtoH_v2, back, block, 4) == 0);
  CHECK(back[3] == 7);
  CHECK(CU(cuda, cuGraphLaunch, work, queue) == 1);  // it was not freed in between
  REQUIRE(CU(cuda, cuMemFreeAsync, block, queue) == 0);
  CHECK(cuda.free_bytes() == 74 * mib);
  CHECK(attribute(cuda, 0) == 0);
  REQUIRE(CU(cuda, cuStreamSynchronize, queue) == 0);
  CHECK(cuda.free_bytes() == 74 * mib);  // the graphs' pool keeps it
  REQUIRE(CU(cuda, cuDeviceGraphMemTrim, 0) == 0);
  CHECK(cuda.free_bytes() == 80 * mib);
  REQUIRE(CU(cuda, cuGraphLaunch, work, queue) == 0);
  CHECK(CU(cuda, cuGraphExecDestroy, work) == 0);
  CHECK(CU(cuda, cuGraphDestroy, captured) == 0);
  CHECK(attribute(cuda, 0) == 5 * mib);  // what was launched lives until it is freed
  CHECK(CU(cuda, cuMemFree_v2, block) == 0);
  CHECK(attribute(cuda, 0) == 0);
}

TEST_CASE("a graph allocates and frees by its own nodes, or frees when launched again") {
  const fresh_driver cuda(small_device);
  cuda.start();
  graph* made = nullptr;
  graph_node *first = nullptr, *second = nullptr;
  executable_graph *work = nullptr, *another = nullptr;
  allocation_node wanted{};
  wanted.pool.allocation_type = 1;
  wanted.pool.location = {location_device, 0};
  wanted.bytes = 2 * mib;
  REQUIRE(CU(cuda, cuGraphCreate, &made, 0) == 0);
  REQUIRE(CU(cuda, cuGraphAddMemAllocNode, &first, made, nullptr, 0, &wanted) == 0);
  CHECK(CU(cuda, cuGraphAddMemFreeNode, &second, made, &first, 1, wanted.address + 1) == 1);
  SECTION("freed by a node") {
    REQUIRE(CU(cuda, cuGraphAddMemFreeNode, &second, made, &first, 1, wanted.address) == 0);
    REQUIRE(CU(cuda, cuGraphInstantiateWithFlags, &work, made, 0) == 0);
    CHECK(CU(cuda, cuGraphInstantiateWithFlags, &another, made, 0) == 801);
    for (int launch = 0; launch < 2; ++launch) {
      REQUIRE(CU(cuda, cuGraphLaunch, work, nullptr) == 0);
      CHECK(attribute(cuda, 0) == 0);
      CHECK(attribute(cuda, 2) == 2 * mib);
    }
  }
  SECTION("freed by the next launch") {
    REQUIRE(CU(cuda, cuGraphInstantiateWithFlags, &work, made, 1) == 0);
    for (int launch = 0; launch < 2; ++launch) {
      REQUIRE(CU(cuda, cuGraphLaunch, work, nullptr) == 0);
      CHECK(attribute(cuda, 0) == 2 * mib);
    }
  }
  SECTION("made by the generic function") {
    generic_node generic{};
    generic.type = 10;
    generic.allocation = wanted;
    REQUIRE(CU(cuda, cuGraphAddNode_v2, &second, made, nullptr, nullptr, 0, &generic) == 0);
    CHECK(generic.allocation.address != wanted.address);
    generic.type = 1;
    CHECK(CU(cuda, cuGraphAddNode, &second, made, nullptr, 0, &generic) == 801);
  }
}

TEST_CASE("a launch that does not fit is out of memory") {
  const fresh_driver cuda(small_device);
  cuda.start();
  stream* queue = make_stream(cuda);
  graph* captured = nullptr;
  executable_graph* work = nullptr;
  device_ptr block = 0;
  REQUIRE(CU(cuda, cuStreamBeginCapture_v2, queue, relaxed) == 0);
  REQUIRE(CU(cuda, cuMemAllocAsync, &block, 90 * mib, queue) == 0);
  REQUIRE(CU(cuda, cuStreamEndCapture, queue, &captured) == 0);
  REQUIRE(CU(cuda, cuGraphInstantiateWithFlags, &work, captured, 0) == 0);
  CHECK(CU(cuda, cuGraphLaunch, work, queue) == 2);
}

TEST_CASE("an unsafe call is refused and invalidates the capture, unless the modes allow it") {
  const fresh_driver cuda(small_device);
  context* made = cuda.start();
  stream* queue = make_stream(cuda);
  graph* captured = nullptr;
  device_ptr block = 0;
  int state = 0, mode = relaxed;
  REQUIRE(CU(cuda, cuStreamBeginCapture_v2, queue, global) == 0);
  CHECK(cuda.free_bytes() == 80 * mib);
  SECTION("on the same thread") { CHECK(CU(cuda, cuMemAlloc_v2, &block, 1) == 900); }
  SECTION("on another thread") {
    int code = 0;
    std::thread([&] {
      CU(cuda, cuCtxSetCurrent, made);
      code = CU(cuda, cuMemAlloc_v2, &block, 1);
    }).join();
    CHECK(code == 900);
  }
  SECTION("waiting") { CHECK(CU(cuda, cuStreamSynchronize, queue) == 900); }
  SECTION("a relaxed thread") {
    REQUIRE(CU(cuda, cuThreadExchangeStreamCaptureMode, &mode) == 0);
    CHECK(CU(cuda, cuMemAlloc_v2, &block, 1) == 0);
    REQUIRE(CU(cuda, cuThreadExchangeStreamCaptureMode, &mode) == 0);
    CHECK(CU(cuda, cuStreamEndCapture, queue, &captured) == 0);
    return;
  }
  CHECK(CU(cuda, cuStreamIsCapturing, queue, &state) == 0);
  CHECK(state == 2);
  CHECK(CU(cuda, cuMemAllocAsync, &block, 1, queue) == 901);
  CHECK(CU(cuda, cuStreamEndCapture, queue, &captured) == 901);
  CHECK(captured == nullptr);
  CHECK(CU(cuda, cuMemAlloc_v2, &block, 1) == 0);
}

TEST_CASE("events carry a capture to other streams and back") {
  const fresh_driver cuda;
  cuda.start();
  stream *origin = make_stream(cuda), *branch = make_stream(cuda);
  event *fork = nullptr, *join = nullptr;
  graph* captured = nullptr;
  REQUIRE(CU(cuda, cuEventCreate, &fork, 0) == 0);
  REQUIRE(CU(cuda, cuEventCreate, &join, 0) == 0);
  CHECK(CU(cuda, cuStreamEndCapture, origin, &captured) == 401);
  CHECK(CU(cuda, cuStreamBeginCapture_v2, nullptr, global) == 900);
  REQUIRE(CU(cuda, cuStreamBeginCapture_v2, origin, global) == 0);
  CHECK(CU(cuda, cuStreamBeginCapture_v2, origin, global) == 401);
  CHECK(CU(cuda, cuEventRecord, fork, origin) == 0);
  CHECK(CU(cuda, cuStreamWaitEvent, branch, fork, 0) == 0);
  int state = 0;
  unsigned long long id = 0;
  CHECK(CU(cuda, cuStreamGetCaptureInfo, branch, &state, &id) == 0);
  CHECK(state == 1);
  CHECK(CU(cuda, cuStreamEndCapture, branch, &captured) == 903);
  SECTION("joined") {
    CHECK(CU(cuda, cuEventRecord, join, branch) == 0);
    CHECK(CU(cuda, cuStreamWaitEvent, origin, join, 0) == 0);
    CHECK(CU(cuda, cuStreamEndCapture, origin, &captured) == 0);
  }
  SECTION("not joined") { CHECK(CU(cuda, cuStreamEndCapture, origin, &captured) == 904); }
  SECTION("an event of the capture never happens") {
    CHECK(CU(cuda, cuEventSynchronize, fork) == 907);
    CHECK(CU(cuda, cuStreamEndCapture, origin, &captured) == 901);
  }
  CHECK(CU(cuda, cuStreamIsCapturing, branch, &state) == 0);
  CHECK(state == 0);
}

TEST_CASE("captured host functions run at every launch") {
  const fresh_driver cuda;
  cuda.start();
  stream* queue = make_stream(cuda);
  graph* captured = nullptr;
  executable_graph* work = nullptr;
  int runs = 0;
  const host_function count = [](void* data) { ++*static_cast<int*>(data); };
  REQUIRE(CU(cuda, cuStreamBeginCapture_v2, queue, global) == 0);
  REQUIRE(CU(cuda, cuLaunchHostFunc, queue, count, &runs) == 0);
  REQUIRE(CU(cuda, cuStreamEndCapture, queue, &captured) == 0);
  CHECK(runs == 0);
  REQUIRE(CU(cuda, cuGraphInstantiateWithFlags, &work, captured, 0) == 0);
  CHECK(CU(cuda, cuGraphLaunch, work, queue) == 0);
  CHECK(CU(cuda, cuGraphLaunch, work, queue) == 0);
  CHECK(runs == 2);
}
