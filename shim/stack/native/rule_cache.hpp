// The rules of the places seen so far, shared by all threads. Look-ups of known places take no lock.
//
// Rules die with the code they are about: whoever looks one up has first said which set of loaded libraries is there.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/arena.hpp"
#include "base/spin_lock.hpp"
#include "stack/native/unwind_rules.hpp"

namespace gpumem {

class RuleCache {
 public:
  static constexpr std::size_t first_capacity = 4096;

  // `most`: slots at most; what does not fit is worked out each time.
  constexpr explicit RuleCache(std::size_t most = 64 * 1024) : most_(most) {}

  // Forgets everything if libraries went since the last time. The number only grows.
  void use_generation(std::uint32_t generation);

  // For the frame that the call returns to. What code outside every file means is never known: `unsupported`.
  UnwindRule rule_for(std::uintptr_t return_address) {
    UnwindRule known;
    return find(return_address, known) ? known : derive(return_address);
  }

  std::size_t count();

 private:
  // A key of 0 is a free slot. Half of them at least are, so every search ends.
  struct Slot {
    std::atomic<std::uintptr_t> key;
    std::atomic<std::uint64_t> rule;
  };
  struct Slots {
    std::size_t capacity;
    Slot at[1];
  };

  static std::size_t hash(std::uintptr_t key) { return (key * 0x9e3779b97f4a7c15ull) >> 32; }

  bool find(std::uintptr_t key, UnwindRule& rule) const {
    const Slots* slots = slots_.load(std::memory_order_acquire);
    if (slots == nullptr) return false;
    for (std::size_t i = hash(key);; ++i) {
      const Slot& slot = slots->at[i & (slots->capacity - 1)];
      const std::uintptr_t seen = slot.key.load(std::memory_order_acquire);
      if (seen == 0) return false;
      if (seen != key) continue;
      rule = std::bit_cast<UnwindRule>(slot.rule.load(std::memory_order_acquire));
      // Emptied meanwhile, and perhaps filled again with another place's rule.
      return slot.key.load(std::memory_order_relaxed) == key;
    }
  }

  UnwindRule derive(std::uintptr_t return_address);
  void store(std::uintptr_t key, UnwindRule rule);
  bool make_room();

  const std::size_t most_;
  std::atomic<Slots*> slots_{nullptr};
  std::atomic<std::uint32_t> generation_{0};
  SpinLock lock_;  // for all below, and for changes of the slots
  ProcessArena arena_;
  std::size_t count_ = 0;
};

// The process's, for that set of loaded libraries. Without `by_memory` it knows nothing and remembers nothing.
RuleCache& shared_rules(bool by_memory, std::uint32_t generation);

}  // namespace gpumem
