#include "intercept/providers.hpp"

#include <array>
#include <atomic>
#include <cstring>

#include <dlfcn.h>

#include "base/old_glibc.hpp"
#include "base/spin_lock.hpp"
#include "intercept/real_dlsym.hpp"
#include "intercept/wrappers.hpp"

GPUMEM_USE_FIRST_VERSION(dlerror);

namespace gpumem {
namespace {

constexpr unsigned max_providers = bank_count - 1;
std::array<Provider, max_providers> providers;
std::atomic<unsigned> provider_total{0};
SpinLock providers_lock;

std::atomic<std::uint64_t> linked_routes{0}, dlsym_routes{0}, resolver_routes{0}, unrecognised_routes{0};

bool is_driver(const LoadedObject& object) { return std::strncmp(object.soname(), "libcuda.so", 10) == 0; }
bool is_runtime(const LoadedObject& object) { return std::strncmp(object.soname(), "libcudart.so", 12) == 0; }

// Provider n has bank n + 1.
int provider_at(std::uintptr_t address) {
  const unsigned total = provider_total.load(std::memory_order_acquire);
  for (unsigned i = 0; i < total; ++i)
    if (providers[i].object.contains(address)) return static_cast<int>(i);
  return -1;
}

int add_provider(const LoadedObject& object) {
  LockGuard guard(providers_lock);
  if (const int known = provider_at(object.lo); known >= 0) return known;
  const unsigned number = provider_total.load(std::memory_order_relaxed);
  if (number == max_providers) return -1;
  Provider& added = providers[number];
  added.object = object;
  added.is_driver = is_driver(object);
  for (unsigned i = 0; i < api_count; ++i)
    added.real[i] = object.exported_function(api_name(static_cast<ApiId>(i)));
  provider_total.store(number + 1, std::memory_order_release);
  return static_cast<int>(number);
}

// Which real function the exports stand for, per calling file: files linked against different majors of cudart all
// bind to the same export.
struct Linkage {
  LoadedObject caller;
  std::array<std::atomic<void*>, api_count> real;
};
constexpr unsigned max_linkages = 64;
std::array<Linkage, max_linkages> linkages;
std::atomic<unsigned> linkage_total{0};
SpinLock linkages_lock;

// An unloaded cudart may come back elsewhere: nothing that was found before an unload is believed after it.
void forget_after_unload() {
  static std::atomic<unsigned> seen{0};
  const unsigned now = unload_count();
  if (seen.load(std::memory_order_acquire) == now) return;
  for (Linkage& linkage : linkages)
    for (std::atomic<void*>& real : linkage.real) real.store(nullptr, std::memory_order_relaxed);
  seen.store(now, std::memory_order_release);
}

Linkage* linkage_of(std::uintptr_t caller) {
  const unsigned total = linkage_total.load(std::memory_order_acquire);
  for (unsigned i = 0; i < total; ++i)
    if (linkages[i].caller.contains(caller)) return &linkages[i];
  LoadedObject object;
  if (!find_object(caller, object)) return nullptr;
  LockGuard guard(linkages_lock);
  const unsigned now = linkage_total.load(std::memory_order_relaxed);
  if (now == max_linkages) return nullptr;
  linkages[now].caller = object;
  linkage_total.store(now + 1, std::memory_order_release);
  return &linkages[now];
}

// What the caller would have been bound to without us.
void* next_definition(ApiId api, std::uintptr_t caller) {
  const char* name = api_name(api);
  LoadedObject calling;
  const bool have_caller = find_object(caller, calling);
  const LoadedObject self = this_object();
  LoadedObject linked_runtime, any_owner;
  void* from_linked = nullptr;
  void* from_any = nullptr;
  any_object([&](const LoadedObject& object) {
    if (object.base == self.base) return false;
    void* function = object.exported_function(name);
    if (function == nullptr) return false;
    if (have_caller && calling.needs(object.soname())) {
      linked_runtime = object;
      from_linked = function;
    }
    if (from_any == nullptr && (is_driver(object) || is_runtime(object) || object.base == calling.base)) {
      any_owner = object;
      from_any = function;
    }
    return false;
  });
  void* next = real_dlsym()(RTLD_NEXT, name);
  if (next == nullptr) {
    dlerror();  // leave none of our own making behind
    next = from_linked != nullptr ? from_linked : from_any;
  } else if (LoadedObject owner; from_linked != nullptr && find_object(reinterpret_cast<std::uintptr_t>(next), owner) &&
                                 is_runtime(owner) && is_runtime(linked_runtime)) {
    next = from_linked;
  }
  LoadedObject owner;
  if (next != nullptr && find_object(reinterpret_cast<std::uintptr_t>(next), owner)) add_provider(owner);
  return next;
}

}  // namespace

void* real_function(ApiId api, unsigned bank, const void* caller) {
  if (bank != linked_bank) return providers[bank - 1].real[index(api)];
  forget_after_unload();
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  Linkage* linkage = linkage_of(address);
  void* real = linkage != nullptr ? linkage->real[index(api)].load(std::memory_order_acquire) : nullptr;
  if (real != nullptr) return real;
  real = next_definition(api, address);
  if (real != nullptr && linkage != nullptr) {
    linkage->real[index(api)].store(real, std::memory_order_release);
    linked_routes.fetch_add(1, std::memory_order_relaxed);
  }
  return real;
}

void* redirect(void* found, ApiId wanted) {
  const auto address = reinterpret_cast<std::uintptr_t>(found);
  int number = provider_at(address);
  if (number < 0) {
    LoadedObject object;
    if (this_object().contains(address)) return found;
    if (find_object(address, object) && (wanted != ApiId::none || is_driver(object) || is_runtime(object)))
      number = add_provider(object);
  }
  if (number >= 0) {
    const Provider& from = providers[static_cast<unsigned>(number)];
    for (unsigned i = 0; i < api_count; ++i)
      if (from.real[i] == found) return wrapper(static_cast<ApiId>(i), static_cast<unsigned>(number) + 1);
  }
  if (wanted != ApiId::none) unrecognised_routes.fetch_add(1, std::memory_order_relaxed);
  return found;
}

bool exported_elsewhere(ApiId api) {
  const LoadedObject self = this_object();
  return any_object([&](const LoadedObject& object) {
    return object.base != self.base && object.exported_function(api_name(api)) != nullptr;
  });
}

unsigned provider_count() { return provider_total.load(std::memory_order_acquire); }
const Provider& provider(unsigned number) { return providers[number]; }

const Provider* driver_provider() {
  const unsigned total = provider_count();
  for (unsigned i = 0; i < total; ++i)
    if (providers[i].is_driver) return &providers[i];
  return nullptr;
}

Routes routes_seen() {
  return {linked_routes.load(std::memory_order_relaxed), dlsym_routes.load(std::memory_order_relaxed),
          resolver_routes.load(std::memory_order_relaxed), unrecognised_routes.load(std::memory_order_relaxed)};
}
void count_route_dlsym() { dlsym_routes.fetch_add(1, std::memory_order_relaxed); }
void count_route_resolver() { resolver_routes.fetch_add(1, std::memory_order_relaxed); }

}  // namespace gpumem
