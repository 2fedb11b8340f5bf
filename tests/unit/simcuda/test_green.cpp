// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

green_context* create_green(const fresh_driver& cuda, unsigned multiprocessors) {
  device_resource whole{}, share{};
  resource_description* wanted = nullptr;
  green_context* made = nullptr;
  unsigned groups = 1;
  REQUIRE(CU(cuda, cuDeviceGetDevResource, 0, &whole, 1) == 0);
  REQUIRE(CU(cuda, cuDevSmResourceSplitByCount, &share, &groups, &whole, nullptr, 0, multiprocessors) == 0);
  REQUIRE(CU(cuda, cuDevResourceGenerateDesc, &wanted, &share, 1) == 0);
  REQUIRE(CU(cuda, cuGreenCtxCreate, &made, wanted, 0, 1) == 0);
  return made;
}

}  // namespace

TEST_CASE("a green context keeps the primary context alive, and costs nothing besides") {
  const fresh_driver cuda(R"({"devices": [{"capacity": 104857600, "context_overhead": 20971520}]})");
  REQUIRE(CU(cuda, cuInit, 0) == 0);
  green_context *first = create_green(cuda, 16), *second = create_green(cuda, 16);
  context* usable = nullptr;
  REQUIRE(CU(cuda, cuCtxFromGreenCtx, &usable, first) == 0);
  REQUIRE(CU(cuda, cuCtxSetCurrent, usable) == 0);
  CHECK(cuda.free_bytes() == 80 * mib);
  CHECK(CU(cuda, cuCtxDestroy_v2, usable) == 201);
  device_ptr block = 0;
  REQUIRE(CU(cuda, cuMemAlloc_v2, &block, mib) == 0);
  CHECK(cuda.free_bytes() == 79 * mib);
  int active = 0;
  unsigned flags = 0;
  CHECK(CU(cuda, cuGreenCtxDestroy, first) == 0);
  CHECK(CU(cuda, cuMemFree_v2, block) == 1);  // it went with the context that it was made in
  CHECK(CU(cuda, cuMemAlloc_v2, &block, mib) == 709);
  CHECK(CU(cuda, cuGreenCtxDestroy, first) == 201);
  CHECK(CU(cuda, cuDevicePrimaryCtxGetState, 0, &flags, &active) == 0);
  CHECK(active == 1);
  CHECK(CU(cuda, cuGreenCtxDestroy, second) == 0);
  CHECK(CU(cuda, cuDevicePrimaryCtxGetState, 0, &flags, &active) == 0);
  CHECK(active == 0);
}

TEST_CASE("multiprocessors are shared out in steps of eight") {
  const fresh_driver cuda;  // 132 of them
  REQUIRE(CU(cuda, cuInit, 0) == 0);
  device_resource whole{}, shares[4], rest{};
  unsigned groups = 4;
  REQUIRE(CU(cuda, cuDeviceGetDevResource, 0, &whole, 1) == 0);
  CHECK(whole.multiprocessors == 132);
  REQUIRE(CU(cuda, cuDevSmResourceSplitByCount, shares, &groups, &whole, &rest, 0, 33) == 0);
  CHECK(groups == 3);
  CHECK(shares[2].multiprocessors == 40);
  CHECK(rest.multiprocessors == 12);
  CHECK(CU(cuda, cuDevSmResourceSplitByCount, shares, &groups, &whole, &rest, 0, 133) == 915);
  device_resource of_green{};
  CHECK(CU(cuda, cuGreenCtxGetDevResource, create_green(cuda, 20), &of_green, 1) == 0);
  CHECK(of_green.multiprocessors == 24);
}

TEST_CASE("a stream of a green context knows it") {
  const fresh_driver cuda;
  context *current = cuda.start(), *found = nullptr;
  green_context *green = create_green(cuda, 8), *told = green;
  stream *plain = nullptr, *inside = nullptr;
  REQUIRE(CU(cuda, cuStreamCreate, &plain, 0) == 0);
  REQUIRE(CU(cuda, cuGreenCtxStreamCreate, &inside, green, 1, 0) == 0);
  CHECK(CU(cuda, cuStreamGetCtx_v2, plain, &found, &told) == 0);
  CHECK(found == current);
  CHECK(told == nullptr);
  CHECK(CU(cuda, cuStreamGetCtx_v2, inside, &found, &told) == 0);
  CHECK(told == green);
  CHECK(found != current);
  event* mark = nullptr;
  REQUIRE(CU(cuda, cuEventCreate, &mark, 0) == 0);
  CHECK(CU(cuda, cuGreenCtxRecordEvent, green, mark) == 0);
  CHECK(CU(cuda, cuGreenCtxWaitEvent, green, mark) == 0);
  CHECK(CU(cuda, cuGreenCtxDestroy, green) == 0);
  CHECK(CU(cuda, cuStreamDestroy_v2, inside) == 400);
}
