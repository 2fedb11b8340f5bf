// SPDX-License-Identifier: Apache-2.0
// Requests that fail while the device has memory left.
#include <sys/resource.h>

#include <fstream>
#include <vector>

#include "catch.hpp"
#include "child_process.h"
#include "fresh_nvml.h"

using namespace simcuda;
using test::fresh_driver;
using test::fresh_nvml;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// What the body answers in a process of its own that may have so many addresses more than it has.
int with_few_addresses(rlim_t bytes, const std::function<int()>& body) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t most = pages * 4096 + bytes;
  const pid_t child = test::fork_into([&] {
    const rlimit limit{most, most};
    return setrlimit(RLIMIT_AS, &limit) == 0 ? body() : 98;
  });
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("page-locked memory has a limit of its own, which leaves the device alone") {
  const fresh_driver cuda(R"({"pinned_limit": 3145728})");
  cuda.start();
  const std::size_t free = cuda.free_bytes();
  void *one = nullptr, *two = nullptr;
  REQUIRE(CU(cuda, cuMemHostAlloc, &one, 2 * mib, 0) == 0);
  CHECK(CU(cuda, cuMemHostAlloc, &two, 2 * mib, 0) == 2);
  CHECK(CU(cuda, cuMemAllocHost_v2, &two, 2 * mib) == 2);
  CHECK(cuda.free_bytes() == free);
  device_ptr managed = 0;
  CHECK(CU(cuda, cuMemAllocManaged, &managed, 8 * mib, 1) == 0);
  REQUIRE(CU(cuda, cuMemFreeHost, one) == 0);
  CHECK(CU(cuda, cuMemHostAlloc, &two, 3 * mib, 0) == 0);
}

TEST_CASE("a context that does not get its addresses is out of memory, and costs the device nothing") {
  constexpr rlim_t limit = rlim_t{8} << 30;
  const fresh_driver cuda(R"({"devices": [{"address_space_needed": 34359738368}]})");
  REQUIRE(CU(cuda, cuInit, 0) == 0);
  CHECK(with_few_addresses(limit, [&] {
          const fresh_driver limited(R"({"devices": [{"address_space_needed": 34359738368}]})");
          context* made = nullptr;
          if (CU(limited, cuInit, 0) != 0) return 97;
          return CU(limited, cuCtxCreate_v2, &made, 0, 0);
        }) == 2);
  context* made = nullptr;
  REQUIRE(CU(cuda, cuCtxCreate_v2, &made, 0, 0) == 0);
  for (int i = 0; i < 5000; ++i) {  // given back each time: 47 bits of addresses have no room for so many
    context* again = nullptr;
    REQUIRE(CU(cuda, cuCtxCreate_v2, &again, 0, 0) == 0);
    REQUIRE(CU(cuda, cuCtxDestroy_v2, again) == 0);
  }
}

TEST_CASE("a context for which the device is full keeps no addresses") {
  const fresh_driver cuda(R"({"devices": [{"address_space_needed": 34359738368, "context_overhead": 10737418240}]})");
  cuda.start();
  context* made = nullptr;
  for (int i = 0; i < 5000; ++i) REQUIRE(CU(cuda, cuCtxCreate_v2, &made, 0, 0) == 2);
  device_ptr managed = 0;
  CHECK(CU(cuda, cuMemAllocManaged, &managed, std::size_t{1} << 40, 1) == 0);
}

TEST_CASE("an allocation that does not get its addresses is out of memory") {
  CHECK(with_few_addresses(rlim_t{8} << 30, [] {
          const fresh_driver limited;
          limited.start();
          device_ptr address = 0;
          return CU(limited, cuMemAlloc_v2, &address, 1);
        }) == 2);
}

TEST_CASE("a contiguous device refuses what no hole holds while the sum of them would do") {
  for (const bool contiguous : {true, false}) {
    const fresh_driver cuda(std::string(R"({"devices": [{"capacity": 1073741824, "context_overhead": 67108864,
                                            "contiguous": )") +
                            (contiguous ? "true" : "false") + "}]}");
    cuda.start();
    std::vector<device_ptr> blocks(15);
    for (auto& block : blocks) REQUIRE(CU(cuda, cuMemAlloc_v2, &block, 64 * mib) == 0);
    CHECK(cuda.free_bytes() == 0);
    for (std::size_t i = 0; i < blocks.size(); i += 2) REQUIRE(CU(cuda, cuMemFree_v2, blocks[i]) == 0);
    CHECK(cuda.free_bytes() == 512 * mib);
    device_ptr large = 0;
    CHECK(CU(cuda, cuMemAlloc_v2, &large, 65 * mib) == (contiguous ? 2 : 0));
    CHECK(CU(cuda, cuMemAlloc_v2, &large, 64 * mib) == 0);
  }
}

TEST_CASE("NVML counts what the driver has reserved: as used in its first form, beside it in its second") {
  const fresh_nvml lib(R"({"devices": [{"uuid": "GPU-00000000-0000-0000-0000-00000000e5e5", "capacity": 1000,
    "reserved_bytes": 50, "other_processes": [{"pid": 4000000, "used_bytes": 300}]}]})");
  nvml::gpu* device = lib.device(0);
  nvml::memory_info first{};
  nvml::memory_info_v2 second{};
  second.version = sizeof second | 2u << 24;
  REQUIRE(NVML(lib, nvmlDeviceGetMemoryInfo, device, &first) == 0);
  REQUIRE(NVML(lib, nvmlDeviceGetMemoryInfo_v2, device, &second) == 0);
  CHECK(first.total == 1050);
  CHECK(first.used == 350);
  CHECK(first.free == 700);
  CHECK(second.total == 1050);
  CHECK(second.used == 300);
  CHECK(second.reserved == 50);
  CHECK(second.free == 700);
}
