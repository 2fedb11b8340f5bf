// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

pool_properties shareable(int handle_types) {
  pool_properties wanted{};
  wanted.allocation_type = 1;
  wanted.handle_types = handle_types;
  wanted.location = {location_device, 0};
  return wanted;
}

}  // namespace

TEST_CASE("a pool's pointer leads another driver to the same bytes, which cost it nothing") {
  const fresh_driver cuda, other;
  cuda.start();
  memory_pool *pool = nullptr, *imported = nullptr;
  const auto wanted = shareable(1);
  REQUIRE(CU(cuda, cuMemPoolCreate, &pool, &wanted) == 0);
  device_ptr block = 0, there = 0;
  REQUIRE(CU(cuda, cuMemAllocFromPoolAsync, &block, mib, pool, nullptr) == 0);
  int value = 42, back = 0, file = -1;
  REQUIRE(CU(cuda, cuMemcpyHtoD_v2, block, &value, sizeof value) == 0);
  ipc_handle pointer{};
  REQUIRE(CU(cuda, cuMemPoolExportToShareableHandle, &file, pool, 1, 0) == 0);
  REQUIRE(CU(cuda, cuMemPoolExportPointer, &pointer, block) == 0);
  other.start();
  const std::size_t before = other.free_bytes();
  const auto as_pointer = reinterpret_cast<void *>(static_cast<std::intptr_t>(file));
  REQUIRE(CU(other, cuMemPoolImportFromShareableHandle, &imported, as_pointer, 1, 0) == 0);
  close(file);
  CHECK(CU(other, cuMemAllocFromPoolAsync, &there, mib, imported, nullptr) == 1);
  REQUIRE(CU(other, cuMemPoolImportPointer, &there, imported, &pointer) == 0);
  CHECK(other.free_bytes() == before);
  CHECK(CU(other, cuMemcpyDtoH_v2, &back, there, sizeof back) == 0);
  CHECK(back == 42);
  CHECK(CU(other, cuMemFreeAsync, there, nullptr) == 0);
  CHECK(CU(other, cuMemFreeAsync, there, nullptr) == 1);
  CHECK(CU(other, cuMemPoolDestroy, imported) == 0);
}

TEST_CASE("a pool that was not made for sharing is not shared") {
  const fresh_driver cuda;
  cuda.start();
  memory_pool *pool = nullptr;
  const auto wanted = shareable(0);
  REQUIRE(CU(cuda, cuMemPoolCreate, &pool, &wanted) == 0);
  device_ptr block = 0;
  REQUIRE(CU(cuda, cuMemAllocFromPoolAsync, &block, mib, pool, nullptr) == 0);
  int file = -1;
  ipc_handle pointer{};
  CHECK(CU(cuda, cuMemPoolExportToShareableHandle, &file, pool, 1, 0) == 1);
  CHECK(file == -1);
  CHECK(CU(cuda, cuMemPoolExportPointer, &pointer, block) == 1);
  CHECK(CU(cuda, cuMemPoolImportFromShareableHandle, &pool, reinterpret_cast<void *>(-1), 1, 0) == 1);
}

TEST_CASE("pools of host and managed memory cost the device nothing") {
  const fresh_driver cuda(R"({"devices": [{"capacity": 104857600, "context_overhead": 20971520}]})");
  cuda.start();
  auto wanted = shareable(0);
  wanted.location = {location_host, 0};
  memory_pool *host = nullptr, *managed = nullptr, *now = nullptr;
  REQUIRE(CU(cuda, cuMemPoolCreate, &host, &wanted) == 0);
  device_ptr block = 0;
  REQUIRE(CU(cuda, cuMemAllocFromPoolAsync, &block, 10 * mib, host, nullptr) == 0);
  CHECK(cuda.free_bytes() == 80 * mib);
  std::uint64_t used = 0;
  CHECK(CU(cuda, cuMemPoolGetAttribute, host, 7, &used) == 0);
  CHECK(used == 10 * mib);
  memory_location where{location_host, 0}, here{location_device, 0};
  REQUIRE(CU(cuda, cuMemGetDefaultMemPool, &managed, &here, 2) == 0);
  REQUIRE(CU(cuda, cuMemAllocFromPoolAsync, &block, 10 * mib, managed, nullptr) == 0);
  CHECK(cuda.free_bytes() == 80 * mib);
  CHECK(CU(cuda, cuMemPoolDestroy, managed) == 1);
  REQUIRE(CU(cuda, cuMemSetMemPool, &where, 1, host) == 0);
  CHECK(CU(cuda, cuMemGetMemPool, &now, &where, 1) == 0);
  CHECK(now == host);
  CHECK(CU(cuda, cuDeviceSetMemPool, 0, host) == 1);
  REQUIRE(CU(cuda, cuMemPoolDestroy, host) == 0);
  CHECK(CU(cuda, cuMemGetMemPool, &now, &where, 1) == 0);
  CHECK(now != host);
}
