// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr int unsigned_byte = 1, float_32 = 0x20;
const std::string small_device =
    R"({"devices": [{"capacity": 104857600, "context_overhead": 20971520}]})";  // 100, 20 MiB

}  // namespace

TEST_CASE("arrays cost their elements, and end with their context") {
  const fresh_driver cuda(small_device);
  context* made = cuda.start();
  device_array *flat = nullptr, *deep = nullptr;
  const array_description two{1024, 1024, float_32, 1};
  const array_description_3d three{256, 256, 64, unsigned_byte, 4, 0};
  REQUIRE(CU(cuda, cuArrayCreate_v2, &flat, &two) == 0);
  CHECK(cuda.free_bytes() == 76 * mib);
  REQUIRE(CU(cuda, cuArray3DCreate_v2, &deep, &three) == 0);
  CHECK(cuda.free_bytes() == 60 * mib);
  array_description found{};
  CHECK(CU(cuda, cuArrayGetDescriptor_v2, &found, flat) == 0);
  CHECK(found.width == 1024);
  CHECK(found.format == float_32);
  CHECK(CU(cuda, cuArrayDestroy, flat) == 0);
  CHECK(CU(cuda, cuArrayDestroy, flat) == 400);
  CHECK(cuda.free_bytes() == 76 * mib - 12 * mib);
  REQUIRE(CU(cuda, cuCtxDestroy_v2, made) == 0);
  cuda.start();
  CHECK(cuda.free_bytes() == 80 * mib);
  CHECK(CU(cuda, cuArrayDestroy, deep) == 400);
}

TEST_CASE("arguments of arrays are checked") {
  const fresh_driver cuda(small_device);
  cuda.start();
  device_array* made = nullptr;
  array_description_3d wanted{16, 16, 0, unsigned_byte, 1, 0};
  CHECK(CU(cuda, cuArray3DCreate_v2, nullptr, &wanted) == 1);
  CHECK(CU(cuda, cuArray3DCreate_v2, &made, nullptr) == 1);
  wanted.channels = 3;
  CHECK(CU(cuda, cuArray3DCreate_v2, &made, &wanted) == 1);
  wanted.channels = 1;
  wanted.format = 0xb0;
  CHECK(CU(cuda, cuArray3DCreate_v2, &made, &wanted) == 801);
  wanted.format = unsigned_byte;
  wanted.flags = 4;  // a cube map has six faces
  CHECK(CU(cuda, cuArray3DCreate_v2, &made, &wanted) == 1);
  const array_description huge{100000, 100000, unsigned_byte, 1};
  CHECK(CU(cuda, cuArrayCreate_v2, &made, &huge) == 2);
}

TEST_CASE("a deferred array has requirements instead of memory") {
  const fresh_driver cuda(small_device);
  cuda.start();
  device_array *deferred = nullptr, *plain = nullptr;
  array_description_3d wanted{1024, 1024, 0, unsigned_byte, 1, 0x80};
  REQUIRE(CU(cuda, cuArray3DCreate_v2, &deferred, &wanted) == 0);
  CHECK(cuda.free_bytes() == 80 * mib);
  array_requirements needs{};
  CHECK(CU(cuda, cuArrayGetMemoryRequirements, &needs, deferred, 0) == 0);
  CHECK(needs.bytes == mib);
  wanted.flags = 0;
  REQUIRE(CU(cuda, cuArray3DCreate_v2, &plain, &wanted) == 0);
  CHECK(CU(cuda, cuArrayGetMemoryRequirements, &needs, plain, 0) == 1);
}

TEST_CASE("what is mapped into a sparse array lives until it is unmapped or the array goes") {
  const fresh_driver cuda(small_device);
  context* owner = cuda.start();
  allocation_properties tiles{};
  tiles.type = 1;
  tiles.location = {location_device, 0};
  tiles.usage = 1;
  memory_handle memory = 0;
  device_array *sparse = nullptr, *plain = nullptr;
  array_description_3d wanted{1024, 1024, 0, float_32, 1, 0x40};
  REQUIRE(CU(cuda, cuArray3DCreate_v2, &sparse, &wanted) == 0);
  sparse_properties about{};
  CHECK(CU(cuda, cuArrayGetSparseProperties, &about, sparse) == 0);
  CHECK(about.tile_width * about.tile_height * 4 == 65536);
  wanted.flags = 0;
  REQUIRE(CU(cuda, cuArray3DCreate_v2, &plain, &wanted) == 0);
  CHECK(CU(cuda, cuArrayGetSparseProperties, &about, plain) == 1);
  REQUIRE(CU(cuda, cuArrayDestroy, plain) == 0);
  for (const bool by_unmapping : {true, false}) {
    REQUIRE(CU(cuda, cuMemCreate, &memory, 4 * mib, &tiles, 0) == 0);
    array_mapping entry{.resource = sparse, .operation = array_operation::map, .memory = memory, .device_mask = 1};
    REQUIRE(CU(cuda, cuMemMapArrayAsync, &entry, 1, nullptr) == 0);
    REQUIRE(CU(cuda, cuMemRelease, memory) == 0);
    CHECK(cuda.free_bytes() == 76 * mib);
    if (!by_unmapping) break;
    entry.operation = array_operation::unmap;
    CHECK(CU(cuda, cuMemMapArrayAsync, &entry, 1, nullptr) == 1);  // names memory
    entry.memory = 0;
    CHECK(CU(cuda, cuMemMapArrayAsync, &entry, 1, nullptr) == 0);
    CHECK(CU(cuda, cuMemMapArrayAsync, &entry, 1, nullptr) == 1);
    CHECK(cuda.free_bytes() == 80 * mib);
  }
  REQUIRE(CU(cuda, cuCtxDestroy_v2, owner) == 0);
  cuda.start();
  CHECK(cuda.free_bytes() == 80 * mib);
}

TEST_CASE("a mipmapped array owns the memory of its levels") {
  const fresh_driver cuda(small_device);
  cuda.start();
  mipmapped_array* chain = nullptr;
  device_array *second = nullptr, *missing = nullptr;
  const array_description_3d wanted{1024, 1024, 0, unsigned_byte, 1, 0};
  REQUIRE(CU(cuda, cuMipmappedArrayCreate, &chain, &wanted, 2) == 0);
  CHECK(cuda.free_bytes() == 80 * mib - mib - mib / 4);
  REQUIRE(CU(cuda, cuMipmappedArrayGetLevel, &second, chain, 1) == 0);
  CHECK(CU(cuda, cuMipmappedArrayGetLevel, &missing, chain, 2) == 1);
  array_description found{};
  CHECK(CU(cuda, cuArrayGetDescriptor_v2, &found, second) == 0);
  CHECK(found.height == 512);
  CHECK(CU(cuda, cuArrayDestroy, second) == 1);
  CHECK(CU(cuda, cuMipmappedArrayDestroy, chain) == 0);
  CHECK(CU(cuda, cuMipmappedArrayDestroy, chain) == 400);
  CHECK(CU(cuda, cuArrayGetDescriptor_v2, &found, second) == 400);
  CHECK(cuda.free_bytes() == 80 * mib);
}

TEST_CASE("two-dimensional copies reach into arrays") {
  const fresh_driver cuda;
  cuda.start();
  device_array* target = nullptr;
  const array_description wanted{4, 2, unsigned_byte, 1};
  REQUIRE(CU(cuda, cuArrayCreate_v2, &target, &wanted) == 0);
  char text[] = "abcdefgh", back[4] = {};
  const copy_2d in{
      {0, 0, memory_type::host, text, 0, nullptr, 4}, {0, 0, memory_type::array, nullptr, 0, target, 0}, 4, 2};
  const copy_2d out{
      {0, 1, memory_type::array, nullptr, 0, target, 0}, {0, 0, memory_type::host, back, 0, nullptr, 4}, 4, 1};
  CHECK(CU(cuda, cuMemcpy2D_v2, &in) == 0);
  CHECK(CU(cuda, cuMemcpy2D_v2, &out) == 0);
  CHECK(std::memcmp(back, "efgh", 4) == 0);
  CHECK(CU(cuda, cuArrayDestroy, target) == 0);
  CHECK(CU(cuda, cuMemcpy2D_v2, &out) == 1);
}
