// Entries that are found by what they hold: each once, with a number from 1, for as long as the table lives.
//
// Look-ups of known entries, by what they hold or by number, take no lock. An entry has `hash` and `number`.
#pragma once

#include <array>
#include <atomic>
#include <bit>
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
    std::atomic<Entry*>* by_number = place_of(count() + std::size_t{1}, true);
    auto* entry = by_number != nullptr ? static_cast<Entry*>(arena_.take(size)) : nullptr;
    if (entry == nullptr) return nullptr;
    entry->hash = hash;
    entry->number = static_cast<std::uint32_t>(count_.fetch_add(1, std::memory_order_relaxed) + 1);
    fill(*entry);
    by_number->store(entry, std::memory_order_release);
    free_slot(*slots_.load(std::memory_order_relaxed), hash).store(entry, std::memory_order_release);
    return entry;
  }

  // Numbers up to this one have been given.
  std::uint32_t count() const { return static_cast<std::uint32_t>(count_.load(std::memory_order_relaxed)); }

  // The entry of this number; nullptr where there is none yet.
  Entry* at(std::uint32_t number) {
    const std::atomic<Entry*>* place = number == 0 ? nullptr : place_of(number, false);
    return place == nullptr ? nullptr : place->load(std::memory_order_acquire);
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
    if (old != nullptr && (count() + std::size_t{1}) * 2 <= old->capacity) return true;
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

  // Entries by number lie in pieces, each twice as long as the one before, which never move.
  std::atomic<Entry*>* place_of(std::size_t number, bool make) {
    const std::size_t index = number - 1 + first_piece;
    const auto piece = static_cast<std::size_t>(std::bit_width(index)) - std::bit_width(first_piece);
    if (piece >= pieces_.size()) return nullptr;
    std::atomic<Entry*>* places = pieces_[piece].load(std::memory_order_acquire);
    if (places == nullptr && make) {
      places = static_cast<std::atomic<Entry*>*>(arena_.take((first_piece << piece) * sizeof(std::atomic<Entry*>)));
      pieces_[piece].store(places, std::memory_order_release);
    }
    return places == nullptr ? nullptr : &places[index - (first_piece << piece)];
  }

  static constexpr std::size_t first_piece = 64;
  std::array<std::atomic<std::atomic<Entry*>*>, 24> pieces_{};
  std::atomic<Slots*> slots_{nullptr};
  SpinLock lock_;
  Arena arena_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace gpumem
