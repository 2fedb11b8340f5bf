// The memories of all threads, and those that ended threads have left.
#pragma once

#include <cstddef>

#include "base/arena.hpp"
#include "base/spin_lock.hpp"
#include "stack/native/stack_memo.hpp"

namespace gpumem {

class MemoPool {
 public:
  // Most bytes that the memories take together: stacks can be walked without, blocks cannot be kept without.
  static constexpr std::size_t most_bytes = 8 << 20;

  // One for the calling thread, empty; nullptr where there is no room for another.
  StackMemo* take();

  // A bigger piece for a smaller one, which is gone then; nullptr where there is none.
  char* exchange_room(char* room, std::size_t size, std::size_t bigger);

  std::size_t count();

 private:
  StackMemo* find_abandoned();
  StackMemo* make();

  SpinLock lock_;
  ProcessArena arena_;
  StackMemo *first_ = nullptr, *next_to_check_ = nullptr;
  std::size_t bytes_ = 0, count_ = 0;
};

inline constinit MemoPool memo_pool;

}  // namespace gpumem
