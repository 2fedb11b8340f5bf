// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver_link.h"

#include <dlfcn.h>

#include <algorithm>
#include <string>

namespace simcuda {
namespace {

// CUDA 11's resolver has no fifth argument, and ignores it.
constexpr bool has_five_arguments = SIMCUDA_RUNTIME_VERSION >= 12000;
constexpr const char* first_resolver = has_five_arguments ? "cuGetProcAddress_v2" : "cuGetProcAddress";
constexpr int resolver_version = has_five_arguments ? 12000 : 11030;

}  // namespace

bool driver_link::open() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return false;
  if (!find_resolver(library)) resolver_ = nullptr;
  legacy_ = look_up_all(library, false);
  per_thread_ = look_up_all(library, true);
  return true;
}

driver_functions driver_link::look_up_all(void* library, bool per_thread) const {
  driver_functions found;
#define DRIVER_CALL(name, version, entry) \
  found.entry = reinterpret_cast<signature::entry*>(look_up(library, #name, version, #entry, per_thread));
#include "runtime/driver_calls.def"
#undef DRIVER_CALL
  return found;
}

bool driver_link::find_resolver(void* library) {
  resolver_ = reinterpret_cast<resolver>(dlsym(library, first_resolver));
  if (!resolver_) return false;
  void* entry = nullptr;
  constexpr auto stub_library = static_cast<status>(34);
  if (resolver_("", &entry, 0, 0, nullptr) == stub_library) return false;
  // Like the genuine runtime: whatever the resolver says is the resolver is used from here on.
  if (resolver_("cuGetProcAddress", &entry, resolver_version, 0, nullptr) == status::success && entry) {
    resolver_ = reinterpret_cast<resolver>(entry);
  }
  return true;
}

void* driver_link::look_up(void* library, const char* name, int version, const char* export_name,
                           bool per_thread) const {
  if (version > SIMCUDA_RUNTIME_VERSION) return nullptr;  // the genuine one does not know of it
  if (resolver_) {
    // The per-thread forms appeared in CUDA 7, under the names of the functions that they are forms of.
    constexpr int first_with_per_thread = 7000;
    constexpr std::uint64_t per_thread_flag = 2;
    void* entry = nullptr;
    const int wanted = per_thread ? std::max(version, first_with_per_thread) : version;
    const status result = resolver_(name, &entry, wanted, per_thread ? per_thread_flag : 0, nullptr);
    return result == status::success ? entry : nullptr;
  }
  if (per_thread) {
    for (const char* suffix : {"_ptsz", "_ptds"}) {
      if (void* entry = dlsym(library, (std::string(export_name) + suffix).c_str())) return entry;
    }
  }
  return dlsym(library, export_name);
}

status driver_link::resolve(const char* name, void** entry, int version, std::uint64_t flags, int* found) const {
  return resolver_ ? resolver_(name, entry, version, flags, found) : status::not_found;
}

}  // namespace simcuda
