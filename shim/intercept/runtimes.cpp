#include "intercept/runtimes.hpp"

#include <array>
#include <atomic>

#include "base/loaded_objects.hpp"
#include "base/spin_lock.hpp"

namespace gpumem {
namespace {

struct Copy {
  std::uintptr_t lo = 0, hi = 0;
  std::atomic<int> asks{0};
};

constexpr unsigned max_copies = 64;
std::array<Copy, max_copies> copies;
std::atomic<unsigned> copy_total{0};
SpinLock copies_lock;

Copy* find_copy(std::uintptr_t address) {
  const unsigned total = copy_total.load(std::memory_order_acquire);
  for (unsigned i = 0; i < total; ++i)
    if (address >= copies[i].lo && address < copies[i].hi) return &copies[i];
  return nullptr;
}

void add_copy(std::uintptr_t address) {
  LoadedObject object;
  if (find_copy(address) != nullptr || !find_object(address, object)) return;
  LockGuard guard(copies_lock);
  const unsigned total = copy_total.load(std::memory_order_relaxed);
  if (total == max_copies) return;
  copies[total].lo = object.lo;
  copies[total].hi = object.hi;
  copy_total.store(total + 1, std::memory_order_release);
}

}  // namespace

void note_resolver_use(const void* caller, const char* symbol, int version) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  const bool probe = symbol != nullptr && symbol[0] == '\0' && version == 0;
  if (probe) return add_copy(address);
  Copy* copy = find_copy(address);
  if (copy == nullptr) return;
  int known = copy->asks.load(std::memory_order_relaxed);
  while (known < version && !copy->asks.compare_exchange_weak(known, version, std::memory_order_relaxed)) {
  }
}

bool runtime_copy_at(std::uintptr_t address, RuntimeCopy& found) {
  const Copy* copy = find_copy(address);
  if (copy == nullptr) return false;
  found = {copy->lo, copy->hi, copy->asks.load(std::memory_order_relaxed)};
  return true;
}

unsigned runtime_copy_count() { return copy_total.load(std::memory_order_acquire); }

RuntimeCopy runtime_copy(unsigned number) {
  return {copies[number].lo, copies[number].hi, copies[number].asks.load(std::memory_order_relaxed)};
}

}  // namespace gpumem
