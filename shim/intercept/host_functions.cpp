// The wrappers of host_api.def.
//
// This file is always compiled with -O2 and without sanitizers, whatever the rest is: what is not ours must leave by a
// jump, so that the C library sees the program's return address (it decides what RTLD_NEXT means).
#include <atomic>

#include <dlfcn.h>

#include "api/api_table.hpp"
#include "base/loaded_objects.hpp"
#include "base/old_glibc.hpp"
#include "base/own_work.hpp"
#include "intercept/call.hpp"
#include "intercept/providers.hpp"
#include "intercept/real_dlsym.hpp"
#include "intercept/routes.hpp"
#include "stack/unwinder.hpp"

GPUMEM_USE_FIRST_VERSION(dlvsym);
GPUMEM_USE_FIRST_VERSION(dlerror);

namespace gpumem {
namespace {

std::atomic<void*> next_dlsym{nullptr}, next_dlclose{nullptr};
std::atomic<unsigned> unloads{0}, unloads_running{0};

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

// Whether the look-up is one whose answer we may change.
bool owned(const char* name) { return name != nullptr && find_api(name) != ApiId::none && !interception_disabled(); }

// RTLD_NEXT depends on who asks, and an interposer that comes after us must get what comes after it; so it is passed on
// unless our export is the only thing there is to find.
__attribute__((noinline)) bool only_ours_is_next(const char* name) {
  if (real_dlsym()(RTLD_NEXT, name) != nullptr) return false;
  const LoadedObject self = this_object();
  bool before_us = false;
  any_object([&](const LoadedObject& object) {
    if (object.base == self.base) return true;
    before_us |= object.exported_function(name) != nullptr;
    return false;
  });
  return !before_us;
}

// A search through the global scope ends at our export, also where it would have found nothing: programs ask for names
// to see whether CUDA is there. `caller` matters to RTLD_DEFAULT, which also searches what the caller was linked with.
void* answer_of_global_search(void* handle, const char* name, ApiId api, const void* caller, void* ours) {
  void* next = real_dlsym()(RTLD_NEXT, name);
  if (next == nullptr && !(handle == RTLD_DEFAULT && caller_is_linked_with(api, caller))) return nullptr;
  if (next == nullptr) dlerror();
  count_route(Route::dlsym);
  return ours;
}

__attribute__((noinline)) void* look_up_owned(void* handle, const char* name, const void* caller) {
  const ApiId api = find_api(name);
  void* found = real_dlsym()(handle, name);
  if (found == nullptr) return nullptr;
  OwnWork work;
  prepare_unwinder();
  if (this_object().contains(reinterpret_cast<std::uintptr_t>(found)))
    return answer_of_global_search(handle, name, api, caller, found);
  void* redirected = redirect(found, api);
  if (redirected != found) count_route(Route::dlsym);
  return redirected;
}

}  // namespace

Dlsym real_dlsym() { return reinterpret_cast<Dlsym>(find_next(next_dlsym, "dlsym")); }
Dlclose real_dlclose() { return reinterpret_cast<Dlclose>(find_next(next_dlclose, "dlclose")); }
unsigned unload_count() { return unloads.load(std::memory_order_acquire); }
bool unload_running() { return unloads_running.load(std::memory_order_acquire) != 0; }

extern "C" __attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) noexcept {
  if (owned(name)) {
    if (handle != RTLD_NEXT) return look_up_owned(handle, name, __builtin_return_address(0));
    if (only_ours_is_next(name)) return nullptr;
  }
  return real_dlsym()(handle, name);
}

extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) noexcept {
  // Before, for destructors that use what is going; after, for everyone else.
  unloads_running.fetch_add(1, std::memory_order_acq_rel);
  unloads.fetch_add(1, std::memory_order_release);
  const int result = real_dlclose()(handle);
  unloads.fetch_add(1, std::memory_order_release);
  unloads_running.fetch_sub(1, std::memory_order_release);
  return result;
}

}  // namespace gpumem
