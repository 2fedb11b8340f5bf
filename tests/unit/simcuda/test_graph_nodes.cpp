// SPDX-License-Identifier: Apache-2.0
// Graphs as their nodes: captured into, cloned, made smaller.
#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

}  // namespace

TEST_CASE("a capture into a given graph adds to it, and leaves it there when it is broken") {
  const fresh_driver cuda;
  cuda.start();
  stream *queue = nullptr;
  graph *given = nullptr, *captured = nullptr;
  device_ptr block = 0;
  std::size_t count = 0;
  REQUIRE(CU(cuda, cuStreamCreate, &queue, 1) == 0);
  REQUIRE(CU(cuda, cuGraphCreate, &given, 0) == 0);
  CHECK(CU(cuda, cuStreamBeginCaptureToGraph, queue, nullptr, nullptr, nullptr, 0, 0) == 1);
  REQUIRE(CU(cuda, cuStreamBeginCaptureToGraph, queue, given, nullptr, nullptr, 0, 0) == 0);
  REQUIRE(CU(cuda, cuMemAllocAsync, &block, mib, queue) == 0);
  REQUIRE(CU(cuda, cuStreamEndCapture, queue, &captured) == 0);
  CHECK(captured == given);
  REQUIRE(CU(cuda, cuStreamBeginCaptureToGraph, queue, given, nullptr, nullptr, 0, 0) == 0);
  CHECK(CU(cuda, cuMemAlloc_v2, &block, mib) == 900);
  CHECK(CU(cuda, cuStreamEndCapture, queue, &captured) == 901);
  CHECK(CU(cuda, cuGraphGetNodes, given, nullptr, &count) == 0);
  CHECK(count == 1);
}

TEST_CASE("a graph is cloned and loses nodes, unless it has memory") {
  const fresh_driver cuda;
  cuda.start();
  graph *first = nullptr, *clone = nullptr, *second = nullptr;
  graph_node *empty = nullptr, *memory = nullptr;
  std::size_t count = 0;
  allocation_node wanted{};
  wanted.pool.location = {location_device, 0}, wanted.bytes = mib;
  REQUIRE(CU(cuda, cuGraphCreate, &first, 0) == 0);
  REQUIRE(CU(cuda, cuGraphCreate, &second, 0) == 0);
  REQUIRE(CU(cuda, cuGraphAddEmptyNode, &empty, first, nullptr, 0) == 0);
  REQUIRE(CU(cuda, cuGraphClone, &clone, first) == 0);
  CHECK(CU(cuda, cuGraphDestroyNode, empty) == 0);
  CHECK(CU(cuda, cuGraphDestroyNode, empty) == 1);
  CHECK(CU(cuda, cuGraphGetNodes, clone, nullptr, &count) == 0);
  CHECK(count == 1);
  REQUIRE(CU(cuda, cuGraphAddMemAllocNode, &memory, second, nullptr, 0, &wanted) == 0);
  CHECK(CU(cuda, cuGraphClone, &clone, second) == 801);
  CHECK(CU(cuda, cuGraphDestroyNode, memory) == 801);
}
