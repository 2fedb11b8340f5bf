// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/api.h"

namespace simcuda {

/// The driver's functions, as the resolver of the loaded libcuda handed them out.
struct driver_functions {
#define DRIVER_CALL(name, version, entry) signature::entry* entry = nullptr;
#include "runtime/driver_calls.def"
#undef DRIVER_CALL
};

/// How the runtime reaches libcuda: dlopen, dlsym of cuGetProcAddress_v2 alone, then look-ups of unsuffixed names
/// through it. A driver without a working resolver is read by dlsym of every name.
class driver_link {
 public:
  /// Opens libcuda.so.1; false when there is none.
  bool open();

  /// As looked up for the legacy default stream, or for the default stream per thread.
  const driver_functions& functions(bool per_thread) const noexcept { return per_thread ? per_thread_ : legacy_; }

  /// A look-up on a program's behalf; 500 when the driver has no resolver.
  status resolve(const char* name, void** entry, int version, std::uint64_t flags, int* found) const;

 private:
  using resolver = status (*)(const char*, void**, int, std::uint64_t, int*);

  bool find_resolver(void* library);
  driver_functions look_up_all(void* library, bool per_thread) const;
  void* look_up(void* library, const char* name, int version, const char* export_name, bool per_thread) const;

  resolver resolver_ = nullptr;
  driver_functions legacy_;
  driver_functions per_thread_;
};

}  // namespace simcuda
