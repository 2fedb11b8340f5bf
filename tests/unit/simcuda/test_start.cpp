// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

TEST_CASE("before cuInit everything answers that it is not initialised") {
  const fresh_driver cuda;
  int count = 0;
  device_ptr address = 0;
  CHECK(CU(cuda, cuDeviceGetCount, &count) == 3);
  CHECK(CU(cuda, cuMemAlloc_v2, &address, 1) == 3);
  CHECK(CU(cuda, cuDeviceGetCount, nullptr) == 3);
}

TEST_CASE("cuInit takes no flags") {
  const fresh_driver cuda;
  CHECK(CU(cuda, cuInit, 1) == 1);
  CHECK(CU(cuda, cuInit, 0) == 0);
}

TEST_CASE("a script without devices has none") {
  const fresh_driver cuda(R"({"devices": []})");
  CHECK(CU(cuda, cuInit, 0) == 100);
}

TEST_CASE("the driver's version is the script's") {
  const fresh_driver cuda(R"({"driver_version": 12040})");
  int version = 0;
  CHECK(CU(cuda, cuDriverGetVersion, &version) == 0);
  CHECK(version == 12040);
  CHECK(CU(cuda, cuDriverGetVersion, nullptr) == 1);
}

TEST_CASE("error codes have the driver's names and texts") {
  const fresh_driver cuda;
  const char* text = nullptr;
  CHECK(CU(cuda, cuGetErrorName, status::out_of_memory, &text) == 0);
  CHECK(std::string(text) == "CUDA_ERROR_OUT_OF_MEMORY");
  CHECK(CU(cuda, cuGetErrorString, status::device_unavailable, &text) == 0);
  CHECK(std::string(text) == "CUDA-capable device(s) is/are busy or unavailable");
  CHECK(CU(cuda, cuGetErrorName, static_cast<status>(12345), &text) == 1);
  CHECK(text == nullptr);
}

TEST_CASE("a function that is not simulated says so by its code") {
  const fresh_driver cuda;
  CHECK(reinterpret_cast<int (*)()>(cuda.symbol("cuTexObjectCreate"))() == 801);
}

TEST_CASE("devices show what the script says") {
  const fresh_driver cuda(R"({"devices": [{}, {"name": "Tiny", "capacity": 1048576, "compute_capability": [8, 6],
      "uuid": "GPU-01234567-89ab-cdef-0123-456789abcdef", "pci_bus_id": "0002:3b:00.0", "compute_mode": "prohibited"}]})");
  REQUIRE(CU(cuda, cuInit, 0) == 0);
  int count = 0, value = 0, ordinal = -1;
  char text[32];
  uuid id{};
  std::size_t bytes = 0;
  CHECK(CU(cuda, cuDeviceGetCount, &count) == 0);
  CHECK(count == 2);
  CHECK(CU(cuda, cuDeviceGet, &ordinal, 2) == 101);
  CHECK(CU(cuda, cuDeviceGet, &ordinal, -1) == 101);
  CHECK(CU(cuda, cuDeviceGetName, text, sizeof text, 0) == 0);
  CHECK(std::string(text) == "SimCUDA GPU 0");
  CHECK(CU(cuda, cuDeviceGetName, text, 3, 1) == 0);
  CHECK(std::string(text) == "Ti");
  CHECK(CU(cuda, cuDeviceTotalMem_v2, &bytes, 1) == 0);
  CHECK(bytes == 1048576);
  CHECK(CU(cuda, cuDeviceGetUuid_v2, &id, 1) == 0);
  CHECK(id.bytes[0] == 0x01);
  CHECK(id.bytes[15] == 0xef);
  CHECK(CU(cuda, cuDeviceGetPCIBusId, text, sizeof text, 1) == 0);
  CHECK(std::string(text) == "0002:3b:00.0");
  CHECK(CU(cuda, cuDeviceGetByPCIBusId, &ordinal, "0002:3b:00.0") == 0);
  CHECK(ordinal == 1);
  CHECK(CU(cuda, cuDeviceGetByPCIBusId, &ordinal, "0009:3b:00.0") == 101);
  CHECK(CU(cuda, cuDeviceGetAttribute, &value, 75, 1) == 0);
  CHECK(value == 8);
  CHECK(CU(cuda, cuDeviceGetAttribute, &value, 9999, 1) == 1);
  for (int attribute = 1; attribute <= 147; ++attribute) {
    if (attribute != 139) CHECK(CU(cuda, cuDeviceGetAttribute, &value, attribute, 0) == 0);  // 139 does not exist
  }
  context* made = nullptr;
  CHECK(CU(cuda, cuCtxCreate_v2, &made, 0, 1) == 46);
  CHECK(CU(cuda, cuDevicePrimaryCtxRetain, &made, 1) == 46);
}

TEST_CASE("a forked child has no CUDA when its parent had") {
  const fresh_driver cuda;
  REQUIRE(CU(cuda, cuInit, 0) == 0);
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    const bool refused = CU(cuda, cuInit, 0) == 3 && CU(cuda, cuDeviceGetCount, &count) == 3;
    _exit(refused ? 0 : 1);
  }
  int result = -1;
  REQUIRE(waitpid(child, &result, 0) == child);
  CHECK(result == 0);
}

TEST_CASE("a child forked before cuInit has CUDA of its own") {
  const fresh_driver cuda;
  const pid_t child = fork();
  if (child == 0) _exit(CU(cuda, cuInit, 0));
  int result = -1;
  REQUIRE(waitpid(child, &result, 0) == child);
  CHECK(result == 0);
}

namespace {

const fresh_driver* seen_at_exit = nullptr;

}  // namespace

TEST_CASE("what was registered before cuInit finds the driver shut down at exit") {
  const pid_t child = fork();
  if (child == 0) {
    seen_at_exit = new fresh_driver;
    std::atexit([] { _exit(CU(*seen_at_exit, cuMemFree_v2, 0)); });
    if (CU(*seen_at_exit, cuInit, 0) != 0) _exit(99);
    std::exit(98);
  }
  int result = -1;
  REQUIRE(waitpid(child, &result, 0) == child);
  CHECK(WEXITSTATUS(result) == 4);
}
