#include "intercept/providers.hpp"

#include <array>
#include <atomic>
#include <cstring>

#include "base/spin_lock.hpp"
#include "intercept/real_dlsym.hpp"
#include "intercept/routes.hpp"
#include "intercept/wrappers.hpp"

namespace gpumem {

bool is_driver(const LoadedObject& object) { return std::strncmp(object.soname(), "libcuda.so", 10) == 0; }

// Wheels rename it: libcudart-1b201d85.so.10.1.
bool is_runtime(const LoadedObject& object) { return std::strncmp(object.soname(), "libcudart", 9) == 0; }

namespace {

// Slot n has bank n + 1.
struct Slot {
  std::atomic<bool> mapped{false};
  Provider provider;
};
constexpr unsigned slot_count = bank_count - 1;
std::array<Slot, slot_count> slots;
std::atomic<unsigned> last_serial{0};
SpinLock slots_lock;

template <class Matches>
int find_slot(Matches matches) {
  for (unsigned i = 0; i < slot_count; ++i)
    if (slots[i].mapped.load(std::memory_order_acquire) && matches(slots[i].provider)) return static_cast<int>(i);
  return -1;
}

int slot_at(std::uintptr_t address) {
  return find_slot([&](const Provider& known) { return known.object.contains(address); });
}

int add_provider(const LoadedObject& object) {
  LockGuard guard(slots_lock);
  if (const int known = slot_at(object.lo); known >= 0) return known;
  for (unsigned i = 0; i < slot_count; ++i) {
    if (slots[i].mapped.load(std::memory_order_relaxed)) continue;
    Provider& added = slots[i].provider;
    added.object = object;
    added.is_driver = is_driver(object);
    added.serial = last_serial.load(std::memory_order_relaxed) + 1;
    for (unsigned api = 0; api < api_count; ++api)
      added.real[api] = object.exported_function(api_name(static_cast<ApiId>(api)));
#define X(symbol, params) \
  added.own_calls.symbol = reinterpret_cast<CUresult(*) params>(object.exported_function(#symbol));
    GPUMEM_OWN_CALLS(X)
#undef X
    slots[i].mapped.store(true, std::memory_order_release);
    last_serial.store(added.serial, std::memory_order_release);
    return static_cast<int>(i);
  }
  return -1;
}

void forget_unmapped_providers() {
  for (Slot& slot : slots) {
    if (!slot.mapped.load(std::memory_order_acquire)) continue;
    const LoadedObject& known = slot.provider.object;
    const bool still_there = any_object([&](const LoadedObject& object) {
      return object.base == known.base && object.lo == known.lo && object.hi == known.hi &&
             object.program_headers == known.program_headers;
    });
    if (!still_there) slot.mapped.store(false, std::memory_order_release);
  }
}

// Which real function the exports stand for, per calling file: files linked against different majors of cudart all
// bind to the same export.
struct Linkage {
  LoadedObject caller;
  unsigned number = 0;
};
constexpr unsigned max_linkages = 1024;
std::array<Linkage, max_linkages> linkages;
// Apart from them and all zero, so that the pages of those that are never used cost nothing.
std::array<std::array<std::atomic<void*>, api_count>, max_linkages> linked_functions;
std::atomic<unsigned> linkage_total{0};
SpinLock linkages_lock;

// Nothing that was found before an unload is believed after it.
void forget_after_unload() {
  static constinit std::atomic<unsigned> seen{0};
  const unsigned now = unload_count();
  if (seen.load(std::memory_order_acquire) == now) return;
  for (unsigned i = 0; i < linkage_total.load(std::memory_order_acquire); ++i)
    for (std::atomic<void*>& real : linked_functions[i]) real.store(nullptr, std::memory_order_relaxed);
  forget_unmapped_providers();
  seen.store(now, std::memory_order_release);
}

Linkage* linkage_of(std::uintptr_t caller) {
  static constinit thread_local Linkage* latest = nullptr;
  if (latest != nullptr && latest->caller.contains(caller)) return latest;
  const unsigned total = linkage_total.load(std::memory_order_acquire);
  for (unsigned i = 0; i < total; ++i)
    if (linkages[i].caller.contains(caller)) return latest = &linkages[i];
  LoadedObject object;
  if (!find_object(caller, object)) return nullptr;
  LockGuard guard(linkages_lock);
  const unsigned now = linkage_total.load(std::memory_order_relaxed);
  if (now == max_linkages) return nullptr;
  linkages[now] = {object, now};
  linkage_total.store(now + 1, std::memory_order_release);
  return &linkages[now];
}

// Whether `from` needs `to`, directly or through what it needs.
bool is_linked_with(const LoadedObject& from, const LoadedObject& to) {
  constexpr std::size_t most = 128;
  LoadedObject needed[most];
  std::size_t count = 1;
  needed[0] = from;
  for (std::size_t i = 0; i < count; ++i) {
    const bool reached = any_object([&](const LoadedObject& object) {
      if (!needed[i].needs(object)) return false;
      if (object.base == to.base) return true;
      bool known = false;
      for (std::size_t k = 0; k < count; ++k) known |= needed[k].base == object.base;
      if (!known && count < most) needed[count++] = object;
      return false;
    });
    if (reached) return true;
  }
  return false;
}

// Loaded libraries other than this one that export a function, in the loader's order.
struct Owners {
  static constexpr std::size_t most = 16;
  LoadedObject objects[most];
  std::size_t count = 0;
  std::size_t own_number = 0;

  explicit Owners(ApiId api) {
    const LoadedObject self = this_object();
    any_object([&](const LoadedObject& object) {
      if (object.base == self.base) {
        own_number = object.number;
      } else if (count < most && object.exported_function(api_name(api)) != nullptr) {
        objects[count++] = object;
      }
      return false;
    });
  }
};

// What the caller would have been bound to without us: another tool that was preloaded after us, else the library that
// the caller was linked with, else one that the program was started with, else whichever there is. Found without the
// loader's own look-up, whose lock a library's initializer may hold while it waits for this thread.
void* next_definition(ApiId api, std::uintptr_t caller) {
  enum Fitness { none, any, at_startup, linked, preloaded };
  const Owners owners(api);
  LoadedObject calling;
  const bool have_caller = find_object(caller, calling);
  const LoadedObject* chosen = nullptr;
  Fitness best = none;
  for (std::size_t i = 0; i < owners.count; ++i) {
    const LoadedObject& owner = owners.objects[i];
    const bool is_cuda = is_driver(owner) || is_runtime(owner);
    Fitness fitness = is_cuda ? any : none;
    if (was_loaded_at_startup(owner) && owner.number > owners.own_number) fitness = is_cuda ? at_startup : preloaded;
    if (fitness < linked && have_caller && (owner.base == calling.base || is_linked_with(calling, owner)))
      fitness = linked;
    if (fitness <= best) continue;
    best = fitness;
    chosen = &owner;
  }
  if (chosen == nullptr) return nullptr;
  add_provider(*chosen);
  return chosen->exported_function(api_name(api));
}

}  // namespace

void* real_function(ApiId api, unsigned bank, const void* caller) {
  if (bank != linked_bank) return slots[bank - 1].provider.real[index(api)];
  forget_after_unload();
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  Linkage* linkage = linkage_of(address);
  std::atomic<void*>* known = linkage != nullptr ? &linked_functions[linkage->number][index(api)] : nullptr;
  void* real = known != nullptr ? known->load(std::memory_order_acquire) : nullptr;
  if (real != nullptr) return real;
  real = next_definition(api, address);
  if (real != nullptr && known != nullptr) {
    known->store(real, std::memory_order_release);
    count_route(Route::linked);
  }
  return real;
}

void* redirect(void* found, ApiId wanted) {
  forget_after_unload();
  const auto address = reinterpret_cast<std::uintptr_t>(found);
  int slot = slot_at(address);
  if (slot < 0) {
    LoadedObject object;
    if (this_object().contains(address)) return found;
    if (find_object(address, object) && (wanted != ApiId::none || is_driver(object) || is_runtime(object)))
      slot = add_provider(object);
  }
  if (slot >= 0) {
    const Provider& from = slots[static_cast<unsigned>(slot)].provider;
    for (unsigned i = 0; i < api_count; ++i)
      if (from.real[i] == found) return wrapper(static_cast<ApiId>(i), static_cast<unsigned>(slot) + 1);
  }
  if (wanted != ApiId::none) count_route(Route::unrecognised);
  return found;
}

bool caller_is_linked_with(ApiId api, const void* caller) {
  LoadedObject calling;
  if (!find_object(reinterpret_cast<std::uintptr_t>(caller), calling)) return false;
  const Owners owners(api);
  for (std::size_t i = 0; i < owners.count; ++i)
    if (is_linked_with(calling, owners.objects[i])) return true;
  return false;
}

unsigned provider_serials() { return last_serial.load(std::memory_order_acquire); }

namespace {

template <class Matches>
const Provider* find_provider(Matches matches) {
  forget_after_unload();
  const int slot = find_slot(matches);
  return slot >= 0 ? &slots[static_cast<unsigned>(slot)].provider : nullptr;
}

}  // namespace

const Provider* provider_with_serial(unsigned serial) {
  return find_provider([&](const Provider& known) { return known.serial == serial; });
}
const Provider* driver_provider() {
  return find_provider([](const Provider& known) { return known.is_driver; });
}

}  // namespace gpumem
