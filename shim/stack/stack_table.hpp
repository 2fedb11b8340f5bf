// Stacks seen so far, each once, with a number.
//
// Look-ups of known stacks take no lock. Numbers start at 1; 0 means that no stack is known (budget used up).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/arena.hpp"
#include "base/spin_lock.hpp"

namespace gpumem {

struct Stack {
  std::uint64_t hash = 0;
  std::uint32_t number = 0;
  std::uint32_t generation = 0;  // of the set of loaded libraries: the same addresses can come to mean others
  std::uint32_t depth = 0;
  std::atomic<bool> written{false};  // for the journal's use
  void* frames[1];                   // `depth` of them
};

class StackTable {
 public:
  // The stack's entry; nullptr if there is no memory left or the stack is empty. Entries live as long as the table.
  Stack* intern(void* const* frames, unsigned depth, std::uint32_t generation);

 private:
  struct Slots {
    std::size_t capacity;
    std::atomic<Stack*> at[1];
  };

  static Stack* find(const Slots* slots, std::uint64_t hash, void* const* frames, unsigned depth,
                     std::uint32_t generation);
  bool make_room();

  std::atomic<Slots*> slots_{nullptr};
  SpinLock lock_;
  Arena arena_;
  std::size_t count_ = 0;
};

}  // namespace gpumem
