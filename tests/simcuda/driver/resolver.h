// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace simcuda {

/// How a look-up ended, as cuGetProcAddress_v2 reports it.
enum class lookup_result : int { found = 0, unknown_name = 1, version_too_low = 2 };

struct lookup {
  lookup_result result;
  void* entry;  // nullptr unless found
  const char* export_name;
};

inline constexpr std::uint64_t lookup_flags = 3;  // legacy stream, per-thread stream

/// Looks an unsuffixed name up in resolver_table.def. What is newer than the simulated driver is unknown to it; a
/// version above the driver's own is no error (measured).
lookup resolve(const char* name, int version, std::uint64_t flags, int driver_version);

}  // namespace simcuda
