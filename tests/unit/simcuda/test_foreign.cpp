// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

external_memory_description by_descriptor(int descriptor, std::size_t bytes) {
  external_memory_description wanted{};
  wanted.type = 1;
  wanted.descriptor = descriptor;
  wanted.bytes = bytes;
  return wanted;
}

}  // namespace

TEST_CASE("external memory costs the device nothing, and its buffers are freed like memory") {
  const fresh_driver cuda;
  context* made = cuda.start();
  const std::size_t before = cuda.free_bytes();
  external_memory* handle = nullptr;
  const auto wanted = by_descriptor(-1, 4 * mib);
  REQUIRE(CU(cuda, cuImportExternalMemory, &handle, &wanted) == 0);
  device_ptr buffer = 0, none = 7;
  external_buffer_description part{mib, mib, 0, {}};
  REQUIRE(CU(cuda, cuExternalMemoryGetMappedBuffer, &buffer, handle, &part) == 0);
  CHECK(cuda.free_bytes() == before);
  CHECK(CU(cuda, cuMemsetD8_v2, buffer, 7, mib) == 0);
  part.bytes = 4 * mib;
  CHECK(CU(cuda, cuExternalMemoryGetMappedBuffer, &none, handle, &part) == 1);
  CHECK(none == 7);
  CHECK(CU(cuda, cuMemFree_v2, buffer) == 0);
  CHECK(CU(cuda, cuMemFree_v2, buffer) == 1);
  CHECK(CU(cuda, cuDestroyExternalMemory, handle) == 0);
  CHECK(CU(cuda, cuDestroyExternalMemory, handle) == 400);
  REQUIRE(CU(cuda, cuImportExternalMemory, &handle, &wanted) == 0);
  REQUIRE(CU(cuda, cuCtxDestroy_v2, made) == 0);
  CHECK(CU(cuda, cuDestroyExternalMemory, handle) == 400);
}

TEST_CASE("external memory behind a file shows the file's bytes, and takes the descriptor over") {
  const fresh_driver cuda;
  cuda.start();
  const int file = memfd_create("external", 0), own = dup(file);
  REQUIRE(ftruncate(file, 8192) == 0);
  const int value = 42;
  REQUIRE(pwrite(file, &value, sizeof value, 512) == sizeof value);
  external_memory* handle = nullptr;
  const auto wanted = by_descriptor(file, 8192);
  REQUIRE(CU(cuda, cuImportExternalMemory, &handle, &wanted) == 0);
  CHECK(close(file) == -1);
  close(own);
  const external_buffer_description part{512, 512, 0, {}};
  device_ptr buffer = 0;
  int back = 0;
  REQUIRE(CU(cuda, cuExternalMemoryGetMappedBuffer, &buffer, handle, &part) == 0);
  CHECK(CU(cuda, cuMemcpyDtoH_v2, &back, buffer, sizeof back) == 0);
  CHECK(back == 42);
  const external_array_description levels{0, {16, 16, 0, 1, 4, 0}, 5, {}};
  mipmapped_array* array = nullptr;
  REQUIRE(CU(cuda, cuExternalMemoryGetMappedMipmappedArray, &array, handle, &levels) == 0);
  device_array* level = nullptr;
  CHECK(CU(cuda, cuMipmappedArrayGetLevel, &level, array, 4) == 0);
  CHECK(CU(cuda, cuMipmappedArrayDestroy, array) == 0);
  CHECK(CU(cuda, cuMipmappedArrayDestroy, array) == 400);
}

TEST_CASE("a graphics buffer has an address while it is mapped") {
  const fresh_driver cuda;
  context* made = cuda.start();
  const std::size_t before = cuda.free_bytes();
  graphics_resource* buffer = nullptr;
  device_ptr address = 0;
  std::size_t bytes = 0;
  REQUIRE(CU(cuda, cuGraphicsGLRegisterBuffer, &buffer, 5, 0) == 0);
  CHECK(CU(cuda, cuGraphicsResourceGetMappedPointer_v2, &address, &bytes, buffer) == 211);
  CHECK(CU(cuda, cuGraphicsUnmapResources, 1, &buffer, nullptr) == 211);
  REQUIRE(CU(cuda, cuGraphicsMapResources, 1, &buffer, nullptr) == 0);
  CHECK(CU(cuda, cuGraphicsMapResources, 1, &buffer, nullptr) == 208);
  REQUIRE(CU(cuda, cuGraphicsResourceGetMappedPointer_v2, &address, &bytes, buffer) == 0);
  CHECK(CU(cuda, cuMemsetD8_v2, address, 7, bytes) == 0);
  CHECK(CU(cuda, cuMemFree_v2, address) == 1);
  CHECK(cuda.free_bytes() == before);
  mipmapped_array* levels = nullptr;
  CHECK(CU(cuda, cuGraphicsResourceGetMappedMipmappedArray, &levels, buffer) == 212);
  REQUIRE(CU(cuda, cuGraphicsUnmapResources, 1, &buffer, nullptr) == 0);
  CHECK(CU(cuda, cuMemsetD8_v2, address, 7, bytes) == 1);
  CHECK(CU(cuda, cuGraphicsResourceSetMapFlags_v2, buffer, 1) == 0);
  CHECK(CU(cuda, cuGraphicsUnregisterResource, buffer) == 0);
  CHECK(CU(cuda, cuGraphicsUnregisterResource, buffer) == 400);
  REQUIRE(CU(cuda, cuGraphicsGLRegisterBuffer, &buffer, 5, 0) == 0);
  REQUIRE(CU(cuda, cuCtxDestroy_v2, made) == 0);
  CHECK(CU(cuda, cuGraphicsUnregisterResource, buffer) == 400);
}

TEST_CASE("a graphics image is an array while it is mapped") {
  const fresh_driver cuda;
  cuda.start();
  graphics_resource* images[3] = {};
  REQUIRE(CU(cuda, cuGraphicsGLRegisterImage, &images[0], 5, 0x0de1, 0) == 0);
  REQUIRE(CU(cuda, cuGraphicsEGLRegisterImage, &images[1], images, 0) == 0);
  REQUIRE(CU(cuda, cuGraphicsVDPAURegisterOutputSurface, &images[2], 7, 0) == 0);
  REQUIRE(CU(cuda, cuGraphicsMapResources, 3, images, nullptr) == 0);
  device_array* found = nullptr;
  device_ptr address = 0;
  std::size_t bytes = 0;
  REQUIRE(CU(cuda, cuGraphicsSubResourceGetMappedArray, &found, images[1], 0, 0) == 0);
  array_description about{};
  CHECK(CU(cuda, cuArrayGetDescriptor_v2, &about, found) == 0);
  CHECK(CU(cuda, cuGraphicsResourceGetMappedPointer_v2, &address, &bytes, images[0]) == 213);
  REQUIRE(CU(cuda, cuGraphicsUnmapResources, 3, images, nullptr) == 0);
  CHECK(CU(cuda, cuArrayGetDescriptor_v2, &about, found) == 400);
}
