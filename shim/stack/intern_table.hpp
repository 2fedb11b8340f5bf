// Entries that are found by what they hold: each once, with a number from 1, for as long as the table lives.
//
// Look-ups of known entries take no lock. An entry has `hash` and `number`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/arena.hpp"
#include "base/spin_lock.hpp"

namespace gpumem {

template <class Entry>
class InternTable {
 public:
  // The entry of this hash for which same(entry) holds. Else one of `size` zeroed bytes that fill(entry) completes;
  // nullptr where there is no memory left.
  template <class Same, class Fill>
  Entry* intern(std::uint64_t hash, std::size_t size, Same same, Fill fill) {
    if (Entry* known = find(slots_.load(std::memory_order_acquire), hash, same)) return known;
    LockGuard guard(lock_);
    if (Entry* known = find(slots_.load(std::memory_order_relaxed), hash, same)) return known;
    if (!make_room()) return nullptr;
    auto* entry = static_cast<Entry*>(arena_.take(size));
    if (entry == nullptr) return nullptr;
    entry->hash = hash;
    entry->number = static_cast<std::uint32_t>(++count_);
    fill(*entry);
    free_slot(*slots_.load(std::memory_order_relaxed), hash).store(entry, std::memory_order_release);
    return entry;
  }

 private:
  struct Slots {
    std::size_t capacity;
    std::atomic<Entry*> at[1];
  };

  template <class Same>
  static Entry* find(const Slots* slots, std::uint64_t hash, Same same) {
    if (slots == nullptr) return nullptr;
    for (std::size_t i = hash;; ++i) {
      Entry* entry = slots->at[i & (slots->capacity - 1)].load(std::memory_order_acquire);
      if (entry == nullptr || (entry->hash == hash && same(*entry))) return entry;
    }
  }

  static std::atomic<Entry*>& free_slot(Slots& slots, std::uint64_t hash) {
    std::size_t to = hash;
    while (slots.at[to & (slots.capacity - 1)].load(std::memory_order_relaxed) != nullptr) ++to;
    return slots.at[to & (slots.capacity - 1)];
  }

  bool make_room() {
    Slots* old = slots_.load(std::memory_order_relaxed);
    if (old != nullptr && (count_ + 1) * 2 <= old->capacity) return true;
    const std::size_t capacity = old == nullptr ? 256 : old->capacity * 2;
    auto* bigger = static_cast<Slots*>(arena_.take(sizeof(Slots) + capacity * sizeof(std::atomic<Entry*>)));
    if (bigger == nullptr) return false;
    bigger->capacity = capacity;
    for (std::size_t i = 0; old != nullptr && i < old->capacity; ++i)
      if (Entry* entry = old->at[i].load(std::memory_order_relaxed))
        free_slot(*bigger, entry->hash).store(entry, std::memory_order_relaxed);
    slots_.store(bigger, std::memory_order_release);
    return true;
  }

  std::atomic<Slots*> slots_{nullptr};
  SpinLock lock_;
  Arena arena_;
  std::size_t count_ = 0;
};

}  // namespace gpumem
