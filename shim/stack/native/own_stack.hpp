// Where the calling thread's own stack lies: the one that the C library gave it, not one that it has switched to.
#pragma once

#include <cstdint>

namespace gpumem {

struct StackBounds {
  std::uintptr_t lo = 0, hi = 0;  // everything in between can be read as long as the thread lives
  bool contains(std::uintptr_t address) const { return address >= lo && address < hi; }
};

// Empty where `stack_pointer`, the caller's, is not on the thread's own stack: a signal's, a coroutine's. `known`: the
// answer of an earlier time on this thread. Allocates nothing, and asks the kernel only about the main thread's stack,
// which grows.
StackBounds own_stack(std::uintptr_t stack_pointer, StackBounds known = {});

}  // namespace gpumem
