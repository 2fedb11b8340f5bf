// SPDX-License-Identifier: Apache-2.0
// What the simulated driver tells the simulated NVML of the same process, through a private table of cuGetExportTable:
// an export of its own would be one that NVIDIA's library does not have.
#pragma once

#include <cstddef>

#include "driver/types.h"

namespace simcuda {

struct cuda_use {
  std::size_t all = 0;  // of the device, by whomever
  std::size_t own = 0;  // by this process
  bool has_context = false;
};

struct cuda_accounts {
  std::size_t bytes;
  /// false: CUDA has not started, or does not see the device with these 16 bytes as UUID.
  bool (*use)(const unsigned char* uuid, cuda_use* out);
};

inline constexpr uuid cuda_accounts_id{
    {'s', 'i', 'm', 'c', 'u', 'd', 'a', ' ', 'a', 'c', 'c', 'o', 'u', 'n', 't', 's'}};

extern const cuda_accounts accounts_of_devices;

}  // namespace simcuda
