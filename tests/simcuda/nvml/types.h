// SPDX-License-Identifier: Apache-2.0
// NVML's types as far as the simulated functions need them. tests/unit/simcuda compares them with nvml.h.
#pragma once

namespace simcuda::nvml {

struct gpu;

/// NVML's own numbering of results. A script may ask for any number.
enum class outcome : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  not_found = 6,
  insufficient_size = 7,
  version_mismatch = 25,
  unknown = 999,
};

struct memory_info {
  unsigned long long total, free, used;
};

struct memory_info_v2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

struct process_info_v1 {
  unsigned pid;
  unsigned long long used;
};

struct process_info {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct pci_info {
  char legacy_id[16];
  unsigned domain, bus, device;
  unsigned device_id, subsystem_id;
  char id[32];
};

}  // namespace simcuda::nvml
