// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <vector>

#include "catch.hpp"
#include "fresh_nvml.h"

using namespace simcuda;
using namespace simcuda::nvml;
using test::fresh_nvml;

namespace {

// UUIDs of their own: this process also has the simulated drivers of other test cases loaded.
const char* const two_devices = R"({"nvml_driver_version": "999.1", "devices": [
  {"name": "fast", "uuid": "GPU-00000000-0000-0000-0000-0000000000fa", "pci_bus_id": "0000:82:00.0", "capacity": 1048576000, "context_overhead": 10485760,
   "other_processes": [{"pid": 4242, "name": "python train.py", "used_bytes": 104857600},
                       {"pid": 17, "name": "Xorg", "used_bytes": 1048576, "kind": "graphics"}]},
  {"name": "slow", "uuid": "GPU-00000000-0000-0000-0000-000000000510", "pci_bus_id": "0000:03:00.0", "compute_mode": "prohibited", "mig": "enabled", "persistence": false}],
  "rules": [{"call": "nvmlDeviceGetIndex", "nth": 2, "code": 15, "delay_ms": 30}]})";

}  // namespace

TEST_CASE("NVML works between its start and its end") {
  const fresh_nvml lib;
  unsigned count = 0;
  CHECK(NVML(lib, nvmlShutdown) == 1);
  CHECK(NVML(lib, nvmlDeviceGetCount_v2, &count) == 1);
  CHECK(NVML(lib, nvmlInit_v2) == 0);
  CHECK(NVML(lib, nvmlInitWithFlags, 0) == 0);
  CHECK(NVML(lib, nvmlInitWithFlags, 64) == 2);
  CHECK(NVML(lib, nvmlDeviceGetCount_v2, &count) == 0);
  CHECK(count == 1);
  CHECK(NVML(lib, nvmlShutdown) == 0);
  CHECK(NVML(lib, nvmlDeviceGetCount, &count) == 0);
  CHECK(NVML(lib, nvmlShutdown) == 0);
  CHECK(NVML(lib, nvmlDeviceGetCount, &count) == 1);
  const auto text = lib.entry<const char*(int)>("nvmlErrorString");
  CHECK(std::string(text(9)) == "Driver Not Loaded");
  CHECK(std::string(text(12345)) == "Unknown Error");
}

TEST_CASE("NVML orders devices by the bus, and finds them by every name") {
  const fresh_nvml lib(two_devices);
  gpu* slow = lib.device(0);
  char text[96] = {};
  CHECK(NVML(lib, nvmlDeviceGetName, slow, text, sizeof text) == 0);
  CHECK(std::string(text) == "slow");
  CHECK(NVML(lib, nvmlDeviceGetName, slow, text, 4) == 7);
  gpu *fast = nullptr, *same = nullptr;
  CHECK(NVML(lib, nvmlDeviceGetHandleByPciBusId_v2, "00000000:82:00.0", &fast) == 0);
  CHECK(NVML(lib, nvmlDeviceGetUUID, fast, text, sizeof text) == 0);
  CHECK(NVML(lib, nvmlDeviceGetHandleByUUID, text, &same) == 0);
  CHECK(same == fast);
  CHECK(NVML(lib, nvmlDeviceGetHandleByUUID, "GPU-x", &same) == 6);
  CHECK(NVML(lib, nvmlDeviceGetHandleByIndex_v2, 2, &same) == 2);
  pci_info where{};
  CHECK(NVML(lib, nvmlDeviceGetPciInfo_v3, fast, &where) == 0);
  CHECK(std::string(where.id) == "00000000:82:00.0");
  CHECK(NVML(lib, nvmlDeviceGetName, reinterpret_cast<gpu*>(text), text, sizeof text) == 2);
  CHECK(NVML(lib, nvmlSystemGetDriverVersion, text, sizeof text) == 0);
  CHECK(std::string(text) == "999.1");
}

TEST_CASE("memory and processes are what the script says, in every version of the structures") {
  const fresh_nvml lib(two_devices);
  gpu* fast = lib.device(1);
  memory_info first{};
  memory_info_v2 second{};
  CHECK(NVML(lib, nvmlDeviceGetMemoryInfo, fast, &first) == 0);
  CHECK(first.used == 105906176);
  CHECK(first.free == first.total - first.used);
  CHECK(NVML(lib, nvmlDeviceGetMemoryInfo_v2, fast, &second) == 25);
  second.version = sizeof second | 2u << 24;
  CHECK(NVML(lib, nvmlDeviceGetMemoryInfo_v2, fast, &second) == 0);
  CHECK(second.used == first.used);
  unsigned count = 0;
  CHECK(NVML(lib, nvmlDeviceGetComputeRunningProcesses_v3, fast, &count, nullptr) == 7);
  REQUIRE(count == 1);
  process_info process{};
  process_info_v1 old{};
  CHECK(NVML(lib, nvmlDeviceGetComputeRunningProcesses_v3, fast, &count, nullptr) == 2);
  CHECK(NVML(lib, nvmlDeviceGetComputeRunningProcesses_v3, fast, &count, &process) == 0);
  CHECK(process.pid == 4242);
  CHECK(process.gpu_instance == 0xffffffff);
  CHECK(NVML(lib, nvmlDeviceGetGraphicsRunningProcesses, fast, &count, &old) == 0);
  CHECK(old.pid == 17);
  CHECK(old.used == 1048576);
  count = 0;
  CHECK(NVML(lib, nvmlDeviceGetMPSComputeRunningProcesses_v3, fast, &count, nullptr) == 0);
  char name[4096] = {};
  CHECK(NVML(lib, nvmlSystemGetProcessName, 4242, name, sizeof name) == 0);
  CHECK(std::string(name) == "python train.py");
  CHECK(NVML(lib, nvmlSystemGetProcessName, 5, name, sizeof name) == 6);
  CHECK(NVML(lib, nvmlSystemGetProcessName, static_cast<unsigned>(getpid()), name, sizeof name) == 0);
  CHECK(std::string(name).find("simcuda_unit_tests") != std::string::npos);
}

TEST_CASE("modes are told, and a script can make NVML hang and fail") {
  const fresh_nvml lib(two_devices);
  gpu *slow = lib.device(0), *fast = lib.device(1);
  int mode = -1;
  unsigned now = 0, later = 0, index = 9;
  CHECK(NVML(lib, nvmlDeviceGetComputeMode, slow, &mode) == 0);
  CHECK(mode == 2);
  CHECK(NVML(lib, nvmlDeviceGetPersistenceMode, slow, &mode) == 0);
  CHECK(mode == 0);
  CHECK(NVML(lib, nvmlDeviceGetMigMode, slow, &now, &later) == 0);
  CHECK(now == 1);
  CHECK(NVML(lib, nvmlDeviceGetMigMode, fast, &now, &later) == 0);
  CHECK(now == 0);
  CHECK(NVML(lib, nvmlDeviceGetIndex, fast, &index) == 0);
  CHECK(index == 1);
  const auto before = std::chrono::steady_clock::now();
  CHECK(NVML(lib, nvmlDeviceGetIndex, fast, &index) == 15);
  CHECK(std::chrono::steady_clock::now() - before >= std::chrono::milliseconds(30));
  const auto unsimulated = lib.entry<int()>("nvmlDeviceGetTemperature");
  CHECK(unsimulated() == 3);
}

TEST_CASE("a refused script makes NVML fail as it makes CUDA") {
  const fresh_nvml lib(R"({"devicez": []})");
  CHECK(NVML(lib, nvmlInit_v2) == 999);
}
