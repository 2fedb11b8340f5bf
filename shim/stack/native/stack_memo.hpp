// A thread's memory of the stacks that it has walked: a walk that would read what an earlier one has read is spared.
//
// As sound as the rules themselves, because every cell that the walk depended on is compared, not only the innermost.
// Memories are reused when threads end, so there are about as many as threads at a time; all of them together are
// bounded, and a thread that finds none left walks each time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <sys/types.h>

#include "stack/native/frame_walk.hpp"
#include "stack/native/own_stack.hpp"

namespace gpumem {

class StackMemo {
 public:
  // The calling thread's; nullptr where none can be had, and in a signal handler that interrupted its use.
  class Use {
   public:
    explicit Use(std::uint32_t generation);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    explicit operator bool() const { return memo_ != nullptr; }
    StackMemo* operator->() const { return memo_; }

   private:
    StackMemo* memo_;
  };

  // Of the thread that uses it.
  StackBounds bounds(std::uintptr_t stack_pointer);

  // Shows the stack if it is known. All of it lies on the thread's own stack.
  bool recall(const Registers& start, unsigned capacity, StackCapture& capture);

  // Room for the trace of a walk, and what the walk gave.
  WalkTrace blank();
  void store(const Registers& start, unsigned capacity, const WalkTrace& trace, StackCapture& capture);

 private:
  struct Entry;
  static constexpr std::size_t first_size = 8 * 1024, growth = 4, largest_size = 128 * 1024;
  static constexpr std::size_t chains = 64;

  friend class MemoPool;
  static StackMemo* of_this_thread();

  Entry* next_entry() { return reinterpret_cast<Entry*>(room_ + used_); }
  Entry*& chain(std::uintptr_t stack_pointer) { return chains_[(stack_pointer * 0x9e3779b97f4a7c15ull) >> 58]; }
  void forget();
  void make_room();

  std::atomic<std::uint32_t> epoch_{0};        // of the process whose thread it belongs to
  std::atomic<std::uintptr_t> descriptor_{0};  // that thread's
  pid_t thread_ = 0;
  StackMemo* next_memo_ = nullptr;

  bool in_use_ = false;
  std::uint32_t generation_ = 0;
  StackBounds bounds_;
  char* room_ = nullptr;
  std::size_t size_ = 0, used_ = 0;
  Entry* chains_[chains] = {};
};

}  // namespace gpumem
