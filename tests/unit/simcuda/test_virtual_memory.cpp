// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t page = 2 * mib;
const std::string small_device =
    R"({"devices": [{"capacity": 104857600, "context_overhead": 20971520}]})";  // 100, 20 MiB

allocation_properties on_device(int handle_types = 0) {
  allocation_properties wanted{};
  wanted.type = 1;
  wanted.handle_types = handle_types;
  wanted.location = {location_device, 0};
  return wanted;
}

constexpr access_description read_write{{location_device, 0}, 3};

}  // namespace

TEST_CASE("physical memory goes when neither a handle nor a mapping refers to it") {
  const fresh_driver cuda(small_device);
  cuda.start();
  const auto wanted = on_device();
  memory_handle handle = 0, again = 0;
  device_ptr range = 0;
  REQUIRE(CU(cuda, cuMemAddressReserve, &range, 4 * page, 0, 0, 0) == 0);
  CHECK(range % page == 0);
  CHECK(cuda.free_bytes() == 80 * mib);
  REQUIRE(CU(cuda, cuMemCreate, &handle, 2 * page, &wanted, 0) == 0);
  CHECK(cuda.free_bytes() == 76 * mib);
  REQUIRE(CU(cuda, cuMemMap, range, 2 * page, 0, handle, 0) == 0);
  CHECK(CU(cuda, cuMemMap, range + page, page, 0, handle, 0) == 1);
  CHECK(CU(cuda, cuMemAddressFree, range, 4 * page) == 1);
  REQUIRE(CU(cuda, cuMemRelease, handle) == 0);
  CHECK(CU(cuda, cuMemRelease, handle) == 1);
  CHECK(cuda.free_bytes() == 76 * mib);
  REQUIRE(CU(cuda, cuMemRetainAllocationHandle, &again, reinterpret_cast<void*>(range + page)) == 0);
  CHECK(again == handle);
  CHECK(CU(cuda, cuMemUnmap, range, page) == 1);
  REQUIRE(CU(cuda, cuMemUnmap, range, 2 * page) == 0);
  CHECK(cuda.free_bytes() == 76 * mib);
  REQUIRE(CU(cuda, cuMemRelease, again) == 0);
  CHECK(cuda.free_bytes() == 80 * mib);
  CHECK(CU(cuda, cuMemAddressFree, range, page) == 1);
  CHECK(CU(cuda, cuMemAddressFree, range, 4 * page) == 0);
  CHECK(CU(cuda, cuMemAddressFree, range, 4 * page) == 1);
}

TEST_CASE("access is needed before use, and copies may span neighbouring mappings") {
  const fresh_driver cuda(small_device);
  cuda.start();
  const auto wanted = on_device();
  memory_handle first = 0, second = 0;
  device_ptr range = 0;
  REQUIRE(CU(cuda, cuMemAddressReserve, &range, 2 * page, 0, 0, 0) == 0);
  REQUIRE(CU(cuda, cuMemCreate, &first, page, &wanted, 0) == 0);
  REQUIRE(CU(cuda, cuMemCreate, &second, page, &wanted, 0) == 0);
  REQUIRE(CU(cuda, cuMemMap, range, page, 0, first, 0) == 0);
  REQUIRE(CU(cuda, cuMemMap, range + page, page, 0, second, 0) == 0);
  CHECK(CU(cuda, cuMemsetD8_v2, range, 7, page) == 1);
  unsigned long long flags = 9;
  CHECK(CU(cuda, cuMemGetAccess, &flags, &read_write.location, range) == 0);
  CHECK(flags == 0);
  CHECK(CU(cuda, cuMemSetAccess, range, page + 1, &read_write, 1) == 1);
  REQUIRE(CU(cuda, cuMemSetAccess, range, 2 * page, &read_write, 1) == 0);
  CHECK(CU(cuda, cuMemGetAccess, &flags, &read_write.location, range) == 0);
  CHECK(flags == 3);
  CHECK(CU(cuda, cuMemsetD8_v2, range, 7, 2 * page) == 0);
  CHECK(CU(cuda, cuMemsetD8_v2, range + 1, 7, 2 * page) == 1);
  CHECK(CU(cuda, cuMemFree_v2, range) == 1);
  device_ptr start = 0;
  std::size_t bytes = 0;
  CHECK(CU(cuda, cuMemGetAddressRange_v2, &start, &bytes, range + page + 5) == 0);
  CHECK(start == range + page);
  REQUIRE(CU(cuda, cuMemUnmap, range, 2 * page) == 0);  // one call for both
  CHECK(CU(cuda, cuMemsetD8_v2, range, 7, 1) == 1);
}

TEST_CASE("virtual memory survives its context, and counts against the capacity") {
  const fresh_driver cuda(small_device);
  context* made = cuda.start();
  const auto wanted = on_device();
  memory_handle big = 0, untouched = 42;
  CHECK(CU(cuda, cuMemCreate, &untouched, 82 * mib, &wanted, 0) == 2);
  CHECK(untouched == 42);
  REQUIRE(CU(cuda, cuMemCreate, &big, 60 * mib, &wanted, 0) == 0);
  REQUIRE(CU(cuda, cuCtxDestroy_v2, made) == 0);
  cuda.start();
  CHECK(cuda.free_bytes() == 20 * mib);
  CHECK(CU(cuda, cuMemRelease, big) == 0);
  CHECK(cuda.free_bytes() == 80 * mib);
}

TEST_CASE("arguments of virtual memory are checked") {
  const fresh_driver cuda(small_device);
  cuda.start();
  auto wanted = on_device();
  memory_handle handle = 0;
  device_ptr range = 0;
  std::size_t granularity = 0;
  CHECK(CU(cuda, cuMemGetAllocationGranularity, &granularity, &wanted, 0) == 0);
  CHECK(granularity == page);
  CHECK(CU(cuda, cuMemAddressReserve, &range, page + 1, 0, 0, 0) == 1);
  CHECK(CU(cuda, cuMemAddressReserve, &range, page, 3, 0, 0) == 1);
  CHECK(CU(cuda, cuMemCreate, &handle, page + 1, &wanted, 0) == 1);
  CHECK(CU(cuda, cuMemCreate, &handle, 0, &wanted, 0) == 1);
  wanted.location.id = 4;
  CHECK(CU(cuda, cuMemCreate, &handle, page, &wanted, 0) == 101);
  wanted.type = 0;
  CHECK(CU(cuda, cuMemCreate, &handle, page, &wanted, 0) == 1);
  CHECK(CU(cuda, cuMemRelease, 4096) == 1);
  CHECK(CU(cuda, cuMemMap, page, page, 0, 4096, 0) == 1);
}

TEST_CASE("an exported descriptor gives the same memory in another driver") {
  const fresh_driver cuda(small_device), other(small_device);
  cuda.start();
  const auto wanted = on_device(1), unshared = on_device();
  memory_handle handle = 0, imported = 0, closed = 0;
  int file = -1;
  REQUIRE(CU(cuda, cuMemCreate, &closed, page, &unshared, 0) == 0);
  CHECK(CU(cuda, cuMemExportToShareableHandle, &file, closed, 1, 0) == 1);
  REQUIRE(CU(cuda, cuMemCreate, &handle, page, &wanted, 0) == 0);
  REQUIRE(CU(cuda, cuMemExportToShareableHandle, &file, handle, 1, 0) == 0);
  const auto as_pointer = reinterpret_cast<void*>(static_cast<std::intptr_t>(file));
  REQUIRE(CU(cuda, cuMemImportFromShareableHandle, &imported, as_pointer, 1) == 0);
  CHECK(imported == handle);
  CHECK(CU(cuda, cuMemRelease, imported) == 0);
  other.start();
  REQUIRE(CU(other, cuMemImportFromShareableHandle, &imported, as_pointer, 1) == 0);
  close(file);
  CHECK(other.free_bytes() == 80 * mib);
  allocation_properties found{};
  CHECK(CU(other, cuMemGetAllocationPropertiesFromHandle, &found, imported) == 0);
  CHECK(found.handle_types == 1);
  device_ptr here = 0, there = 0;
  for (const auto& [driver, range, memory] : {std::tuple{&cuda, &here, handle}, std::tuple{&other, &there, imported}}) {
    REQUIRE(CU(*driver, cuMemAddressReserve, range, page, 0, 0, 0) == 0);
    REQUIRE(CU(*driver, cuMemMap, *range, page, 0, memory, 0) == 0);
    REQUIRE(CU(*driver, cuMemSetAccess, *range, page, &read_write, 1) == 0);
  }
  int value = 42, back = 0;
  CHECK(CU(cuda, cuMemcpyHtoD_v2, here, &value, sizeof value) == 0);
  CHECK(CU(other, cuMemcpyDtoH_v2, &back, there, sizeof back) == 0);
  CHECK(back == 42);
  CHECK(CU(other, cuMemImportFromShareableHandle, &imported, reinterpret_cast<void*>(0), 1) == 1);
}
