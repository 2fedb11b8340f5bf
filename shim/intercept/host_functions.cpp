// The wrappers of host_api.def.
//
// This file is always compiled with -O2 and without sanitizers, whatever the rest is: what is not ours must leave by a
// jump, so that the C library sees the program's return address (it decides what RTLD_NEXT means).
#include <atomic>

#include <dlfcn.h>

#include "api/api_table.hpp"
#include "base/loaded_objects.hpp"
#include "base/old_glibc.hpp"
#include "intercept/call.hpp"
#include "intercept/providers.hpp"
#include "intercept/real_dlsym.hpp"

GPUMEM_USE_FIRST_VERSION(dlvsym);

namespace gpumem {
namespace {

std::atomic<void*> next_dlsym{nullptr}, next_dlclose{nullptr};
std::atomic<unsigned> unloads{0};

void* find_next(std::atomic<void*>& cached, const char* name) {
  void* found = cached.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
    found = dlvsym(RTLD_NEXT, name, version);
    if (found != nullptr) break;
  }
  cached.store(found, std::memory_order_release);
  return found;
}

// Whether the look-up is one whose answer we may change. RTLD_NEXT depends on who asks, and an interposer that comes
// after us must get what comes after it.
bool owned(void* handle, const char* name) {
  return name != nullptr && handle != RTLD_NEXT && find_api(name) != ApiId::none && !interception_disabled();
}

__attribute__((noinline)) void* look_up_owned(void* handle, const char* name) {
  const ApiId api = find_api(name);
  void* found = real_dlsym()(handle, name);
  if (found == nullptr) return nullptr;
  if (this_object().contains(reinterpret_cast<std::uintptr_t>(found))) {
    // A search that went through the global scope ends at our export, also where nothing else has the function.
    if (!exported_elsewhere(api)) return real_dlsym()(RTLD_NEXT, name);
    count_route_dlsym();
    return found;
  }
  void* redirected = redirect(found, api);
  if (redirected != found) count_route_dlsym();
  return redirected;
}

}  // namespace

Dlsym real_dlsym() { return reinterpret_cast<Dlsym>(find_next(next_dlsym, "dlsym")); }
Dlclose real_dlclose() { return reinterpret_cast<Dlclose>(find_next(next_dlclose, "dlclose")); }
unsigned unload_count() { return unloads.load(std::memory_order_acquire); }

extern "C" __attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) noexcept {
  if (owned(handle, name)) return look_up_owned(handle, name);
  return real_dlsym()(handle, name);
}

extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) noexcept {
  // Before, for destructors that use what is going; after, for everyone else.
  unloads.fetch_add(1, std::memory_order_release);
  const int result = real_dlclose()(handle);
  unloads.fetch_add(1, std::memory_order_release);
  return result;
}

}  // namespace gpumem
