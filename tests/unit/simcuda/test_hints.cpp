// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

}  // namespace

TEST_CASE("hints are taken for managed memory only") {
  const fresh_driver cuda;
  cuda.start();
  device_ptr managed = 0, plain = 0;
  REQUIRE(CU(cuda, cuMemAllocManaged, &managed, mib, 1) == 0);
  REQUIRE(CU(cuda, cuMemAlloc_v2, &plain, mib) == 0);
  const memory_location here{location_device, 0};
  std::size_t bytes = mib;
  CHECK(CU(cuda, cuMemPrefetchAsync, managed, mib, 0, nullptr) == 0);
  CHECK(CU(cuda, cuMemPrefetchAsync, managed, mib, 7, nullptr) == 101);
  CHECK(CU(cuda, cuMemPrefetchAsync, managed, mib + 1, -1, nullptr) == 1);
  CHECK(CU(cuda, cuMemPrefetchAsync_v2, plain, mib, here, 0, nullptr) == 1);
  CHECK(CU(cuda, cuMemAdvise, managed, mib, 1, 0) == 0);
  CHECK(CU(cuda, cuMemAdvise_v2, plain, mib, 1, here) == 1);
  CHECK(CU(cuda, cuMemDiscardBatchAsync, &managed, &bytes, 1, 0, nullptr) == 0);
  CHECK(CU(cuda, cuMemDiscardBatchAsync, &plain, &bytes, 1, 0, nullptr) == 1);
  CHECK(CU(cuda, cuStreamAttachMemAsync, nullptr, managed, 0, 1) == 0);
  CHECK(CU(cuda, cuStreamAttachMemAsync, nullptr, plain, 0, 1) == 1);
}

TEST_CASE("memory can be had as a descriptor") {
  const fresh_driver cuda;
  cuda.start();
  device_ptr block = 0;
  REQUIRE(CU(cuda, cuMemAlloc_v2, &block, mib) == 0);
  int file = -1;
  CHECK(CU(cuda, cuMemGetHandleForAddressRange, &file, block, mib + 4096, 1, 0) == 1);
  REQUIRE(CU(cuda, cuMemGetHandleForAddressRange, &file, block, mib, 1, 0) == 0);
  CHECK(close(file) == 0);
}

TEST_CASE("access to peers is the script's to allow") {
  const fresh_driver apart(R"({"devices": [{}, {}]})"), joined(R"({"devices": [{}, {}], "peer_access": true})");
  for (const fresh_driver* cuda : {&apart, &joined}) {
    context* peer = cuda->start(1);
    context* mine = cuda->start(0);
    const bool allowed = cuda == &joined;
    int can = 7;
    CHECK(CU(*cuda, cuDeviceCanAccessPeer, &can, 0, 1) == 0);
    CHECK(can == allowed);
    CHECK(CU(*cuda, cuCtxEnablePeerAccess, mine, 0) == 101);
    CHECK(CU(*cuda, cuCtxEnablePeerAccess, peer, 0) == (allowed ? 0 : 217));
    CHECK(CU(*cuda, cuCtxEnablePeerAccess, peer, 0) == (allowed ? 704 : 217));
    CHECK(CU(*cuda, cuCtxDisablePeerAccess, peer) == (allowed ? 0 : 705));
    CHECK(CU(*cuda, cuCtxDisablePeerAccess, peer) == 705);
  }
}

TEST_CASE("the interface of 32-bit sizes is refused") {
  const fresh_driver cuda;
  cuda.start();
  legacy_device_ptr address = 0;
  unsigned bytes = 0;
  void* host = nullptr;
  CHECK(CU(cuda, cuMemAlloc, &address, 64) == 201);
  CHECK(CU(cuda, cuMemAllocPitch, &address, &bytes, 64, 64, 4) == 201);
  CHECK(CU(cuda, cuMemAllocHost, &host, 64) == 201);
  CHECK(CU(cuda, cuMemGetInfo, &bytes, &bytes) == 201);
  CHECK(CU(cuda, cuMemGetAddressRange, &address, &bytes, 0) == 201);
}
