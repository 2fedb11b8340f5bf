// SPDX-License-Identifier: Apache-2.0
// A program that uses CUDA and NVML together: the memory that it allocates shows in NVML, under its own pid.
#include <unistd.h>

#include <cstdio>

#include "driver/api.h"
#include "nvml/api.h"

namespace simcuda {

extern "C" signature::cuInit cuInit;
extern "C" signature::cuCtxCreate_v2 cuCtxCreate_v2;
extern "C" signature::cuMemAlloc_v2 cuMemAlloc_v2;
extern "C" nvml::signature::nvmlInit_v2 nvmlInit_v2;
extern "C" nvml::signature::nvmlDeviceGetHandleByIndex_v2 nvmlDeviceGetHandleByIndex_v2;
extern "C" nvml::signature::nvmlDeviceGetMemoryInfo nvmlDeviceGetMemoryInfo;
extern "C" nvml::signature::nvmlDeviceGetComputeRunningProcesses_v3 nvmlDeviceGetComputeRunningProcesses_v3;

namespace {

int run() {
  context* made = nullptr;
  device_ptr block = 0;
  nvml::gpu* device = nullptr;
  nvml::memory_info before{}, after{};
  nvml::process_info process{};
  unsigned count = 1;
  nvmlInit_v2();
  nvmlDeviceGetHandleByIndex_v2(0, &device);
  if (nvmlDeviceGetMemoryInfo(device, &before) != nvml::outcome::success || before.used) return 1;
  if (cuInit(0) != status::success || cuCtxCreate_v2(&made, 0, 0) != status::success) return 2;
  if (cuMemAlloc_v2(&block, 4096) != status::success) return 3;
  nvmlDeviceGetMemoryInfo(device, &after);
  constexpr unsigned long long overhead = 400ull << 20;
  if (after.used != overhead + 4096) return 4;
  if (nvmlDeviceGetComputeRunningProcesses_v3(device, &count, &process) != nvml::outcome::success || count != 1)
    return 5;
  return process.pid == static_cast<unsigned>(getpid()) && process.used == after.used ? 0 : 6;
}

}  // namespace
}  // namespace simcuda

int main() {
  const int failed = simcuda::run();
  if (failed) std::printf("step %d failed\n", failed);
  return failed;
}
