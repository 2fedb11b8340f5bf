// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
const std::string small_device =
    R"({"devices": [{"capacity": 104857600, "context_overhead": 20971520}]})";  // 100, 20 MiB

std::uint64_t attribute(const fresh_driver& cuda, memory_pool* pool, int number) {
  std::uint64_t value = 0;
  REQUIRE(CU(cuda, cuMemPoolGetAttribute, pool, number, &value) == 0);
  return value;
}

pool_properties on_device(int device) {
  pool_properties wanted{};
  wanted.allocation_type = 1;
  wanted.location = {location_device, device};
  return wanted;
}

}  // namespace

TEST_CASE("a pool keeps freed memory until the next synchronization") {
  const fresh_driver cuda(small_device);
  cuda.start();
  device_ptr address = 0;
  memory_pool* pool = nullptr;
  std::uint64_t reserved = 0, used = 0;
  REQUIRE(CU(cuda, cuDeviceGetDefaultMemPool, &pool, 0) == 0);
  REQUIRE(CU(cuda, cuMemAllocAsync, &address, 3 * mib, nullptr) == 0);
  CHECK(CU(cuda, cuMemPoolGetAttribute, pool, 5, &reserved) == 0);
  CHECK(CU(cuda, cuMemPoolGetAttribute, pool, 7, &used) == 0);
  CHECK(reserved == 4 * mib);
  CHECK(used == 3 * mib);
  CHECK(cuda.free_bytes() == 76 * mib);
  REQUIRE(CU(cuda, cuMemFreeAsync, address, nullptr) == 0);
  CHECK(CU(cuda, cuMemFreeAsync, address, nullptr) == 1);
  CHECK(cuda.free_bytes() == 76 * mib);
  REQUIRE(CU(cuda, cuStreamSynchronize, nullptr) == 0);
  CHECK(cuda.free_bytes() == 80 * mib);
}

TEST_CASE("a pool's threshold keeps memory through synchronizations, but not from a request that needs it") {
  const fresh_driver cuda(small_device);
  cuda.start();
  device_ptr address = 0;
  memory_pool* pool = nullptr;
  std::uint64_t threshold = ~std::uint64_t{0};
  REQUIRE(CU(cuda, cuDeviceGetMemPool, &pool, 0) == 0);
  REQUIRE(CU(cuda, cuMemPoolSetAttribute, pool, 4, &threshold) == 0);
  REQUIRE(CU(cuda, cuMemAllocAsync, &address, 70 * mib, nullptr) == 0);
  REQUIRE(CU(cuda, cuMemFreeAsync, address, nullptr) == 0);
  REQUIRE(CU(cuda, cuCtxSynchronize) == 0);
  CHECK(cuda.free_bytes() == 10 * mib);
  REQUIRE(CU(cuda, cuMemAllocAsync, &address, 80 * mib, nullptr) == 0);
  REQUIRE(CU(cuda, cuMemFreeAsync, address, nullptr) == 0);
  CHECK(CU(cuda, cuMemAlloc_v2, &address, 60 * mib) == 0);
  CHECK(cuda.free_bytes() == 20 * mib);
}

TEST_CASE("a destroyed pool lives until its last block is freed") {
  const fresh_driver cuda(small_device);
  cuda.start();
  pool_properties properties{};
  properties.allocation_type = 1;
  properties.location = {location_device, 0};
  memory_pool *pool = nullptr, *standard = nullptr;
  device_ptr address = 0;
  REQUIRE(CU(cuda, cuMemPoolCreate, &pool, &properties) == 0);
  REQUIRE(CU(cuda, cuMemAllocFromPoolAsync, &address, 2 * mib, pool, nullptr) == 0);
  REQUIRE(CU(cuda, cuMemPoolDestroy, pool) == 0);
  CHECK(CU(cuda, cuMemPoolDestroy, pool) == 1);
  CHECK(cuda.free_bytes() == 78 * mib);
  REQUIRE(CU(cuda, cuMemFreeAsync, address, nullptr) == 0);
  CHECK(cuda.free_bytes() == 80 * mib);
  REQUIRE(CU(cuda, cuDeviceGetDefaultMemPool, &standard, 0) == 0);
  CHECK(CU(cuda, cuMemPoolDestroy, standard) == 1);
}

TEST_CASE("used and reserved memory of a pool, and their high marks, are exact") {
  const fresh_driver cuda(small_device);
  cuda.start();
  memory_pool* pool = nullptr;
  const auto wanted = on_device(0);
  device_ptr first = 0, second = 0;
  REQUIRE(CU(cuda, cuMemPoolCreate, &pool, &wanted) == 0);
  CHECK(attribute(cuda, pool, 5) == 0);
  REQUIRE(CU(cuda, cuMemAllocFromPoolAsync, &first, 1000, pool, nullptr) == 0);
  REQUIRE(CU(cuda, cuMemAllocFromPoolAsync, &second, 3 * mib, pool, nullptr) == 0);
  CHECK(attribute(cuda, pool, 5) == 4 * mib);
  CHECK(attribute(cuda, pool, 7) == 3 * mib + 1024);
  REQUIRE(CU(cuda, cuMemFreeAsync, second, nullptr) == 0);
  CHECK(attribute(cuda, pool, 7) == 1024);
  CHECK(attribute(cuda, pool, 5) == 4 * mib);
  REQUIRE(CU(cuda, cuMemPoolTrimTo, pool, 4 * mib) == 0);
  CHECK(attribute(cuda, pool, 5) == 4 * mib);
  REQUIRE(CU(cuda, cuMemPoolTrimTo, pool, 0) == 0);
  CHECK(attribute(cuda, pool, 5) == 2 * mib);
  CHECK(attribute(cuda, pool, 6) == 4 * mib);
  CHECK(attribute(cuda, pool, 8) == 3 * mib + 1024);
  std::uint64_t zero = 0, one = 1;
  CHECK(CU(cuda, cuMemPoolSetAttribute, pool, 6, &one) == 1);
  CHECK(CU(cuda, cuMemPoolSetAttribute, pool, 6, &zero) == 0);
  CHECK(CU(cuda, cuMemPoolSetAttribute, pool, 5, &zero) == 1);
  CHECK(attribute(cuda, pool, 6) == 2 * mib);
  CHECK(CU(cuda, cuMemFree_v2, first) == 0);  // also frees what a stream allocated
  CHECK(attribute(cuda, pool, 7) == 0);
}

TEST_CASE("a device's current pool can be exchanged, through either interface") {
  const fresh_driver cuda(R"({"devices": [{}, {}]})");
  cuda.start();
  memory_pool *mine = nullptr, *theirs = nullptr, *now = nullptr;
  const auto here = on_device(0), there = on_device(1);
  REQUIRE(CU(cuda, cuMemPoolCreate, &mine, &here) == 0);
  REQUIRE(CU(cuda, cuMemPoolCreate, &theirs, &there) == 0);
  memory_location where{location_device, 0};
  CHECK(CU(cuda, cuDeviceSetMemPool, 0, theirs) == 1);
  CHECK(CU(cuda, cuMemSetMemPool, &where, 1, mine) == 0);
  CHECK(CU(cuda, cuDeviceGetMemPool, &now, 0) == 0);
  CHECK(now == mine);
  device_ptr block = 0;
  REQUIRE(CU(cuda, cuMemAllocAsync, &block, mib, nullptr) == 0);
  CHECK(attribute(cuda, mine, 7) == mib);
  int flags = 7;
  memory_location peer{location_device, 1};
  const access_description read_write{peer, 3};
  CHECK(CU(cuda, cuMemPoolGetAccess, &flags, mine, &peer) == 0);
  CHECK(flags == 0);
  CHECK(CU(cuda, cuMemPoolSetAccess, mine, &read_write, 1) == 0);
  CHECK(CU(cuda, cuMemPoolGetAccess, &flags, mine, &peer) == 0);
  CHECK(flags == 3);
  CHECK(CU(cuda, cuMemPoolDestroy, mine) == 0);
  CHECK(CU(cuda, cuDeviceGetMemPool, &now, 0) == 0);
  CHECK(now != mine);
}

TEST_CASE("a synchronization trims the pools of its own device only") {
  const fresh_driver cuda(R"({"devices": [{}, {}]})");
  context* first = cuda.start(0);
  memory_pool* pool = nullptr;
  device_ptr block = 0;
  REQUIRE(CU(cuda, cuDeviceGetDefaultMemPool, &pool, 0) == 0);
  REQUIRE(CU(cuda, cuMemAllocAsync, &block, mib, nullptr) == 0);
  REQUIRE(CU(cuda, cuMemFreeAsync, block, nullptr) == 0);
  cuda.start(1);
  REQUIRE(CU(cuda, cuCtxSynchronize) == 0);
  CHECK(attribute(cuda, pool, 5) == 2 * mib);
  REQUIRE(CU(cuda, cuCtxSetCurrent, first) == 0);
  REQUIRE(CU(cuda, cuCtxSynchronize) == 0);
  CHECK(attribute(cuda, pool, 5) == 0);
}
