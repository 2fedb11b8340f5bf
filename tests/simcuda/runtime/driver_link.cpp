// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver_link.h"

#include <dlfcn.h>

namespace simcuda {

bool driver_link::open() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return false;
  if (!find_resolver(library)) resolver_ = nullptr;
#define DRIVER_CALL(name, version, entry) \
  functions_.entry = reinterpret_cast<signature::entry*>(look_up(library, #name, version, #entry));
#include "runtime/driver_calls.def"
#undef DRIVER_CALL
  return true;
}

bool driver_link::find_resolver(void* library) {
  resolver_ = reinterpret_cast<resolver>(dlsym(library, "cuGetProcAddress_v2"));
  if (!resolver_) return false;
  void* entry = nullptr;
  constexpr auto stub_library = static_cast<status>(34);
  if (resolver_("", &entry, 0, 0, nullptr) == stub_library) return false;
  // Like the genuine runtime: whatever the resolver says is the resolver is used from here on.
  if (resolver_("cuGetProcAddress", &entry, 12000, 0, nullptr) == status::success && entry) {
    resolver_ = reinterpret_cast<resolver>(entry);
  }
  return true;
}

void* driver_link::look_up(void* library, const char* name, int version, const char* export_name) const {
  if (!resolver_) return dlsym(library, export_name);
  void* entry = nullptr;
  return resolver_(name, &entry, version, 0, nullptr) == status::success ? entry : nullptr;
}

status driver_link::resolve(const char* name, void** entry, int version, std::uint64_t flags, int* found) const {
  return resolver_ ? resolver_(name, entry, version, flags, found) : status::not_found;
}

}  // namespace simcuda
