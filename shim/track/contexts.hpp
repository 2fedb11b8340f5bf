// The contexts that the process has, with a number of our own for each: handle values come again.
//
// Thread-safe. Bounded: past `capacity` living contexts, born() returns 0 (unknown).
#pragma once

#include <array>
#include <cstdint>

#include "base/spin_lock.hpp"
#include "track/memory_kind.hpp"

namespace gpumem {

struct Context {
  std::uint64_t handle = 0;  // 0: free slot
  std::uint32_t number = 0;  // from 1, never used twice
  std::int16_t device = no_device;
  bool primary = false;
};

class Contexts {
 public:
  static constexpr std::size_t capacity = 1024;

  // Registers a context unless its handle is known; `fresh` says which. A default Context (number 0) if full.
  Context born(std::uint64_t handle, int device, bool primary, bool& fresh);

  // Both false if unknown.
  bool find(std::uint64_t handle, Context& found);
  bool find_primary(int device, Context& found);

  // Forgets it; false if unknown.
  bool end(std::uint64_t handle, Context& ended);

  // Calls visit(const Context&) for each that lives, under the lock.
  template <class Visit>
  void for_each(Visit&& visit) {
    LockGuard guard(lock_);
    for (std::size_t i = 0; i < used_; ++i)
      if (slots_[i].handle != 0) visit(slots_[i]);
  }

  // Takes one back that has not ended after all, unless its handle has a new owner.
  void restore(const Context& context);

 private:
  Context* slot_of(std::uint64_t handle);  // the handle's, or nullptr
  Context* free_slot();

  SpinLock lock_;
  std::uint32_t last_number_ = 0;
  std::size_t used_ = 0;
  std::array<Context, capacity> slots_;
};

}  // namespace gpumem
