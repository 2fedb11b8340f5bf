// What each thread that runs Python code needs for reading its stacks: too much for the stack of a thread.
//
// Pages from the kernel, made at a thread's first reading. A thread that has ended leaves its own to the next one. No
// destructor of a thread's tells of its end, since glibc may allocate for those, and a reading may be inside malloc().
#pragma once

#include "stack/python/code_cache.hpp"
#include "stack/python/python_stack.hpp"

namespace gpumem {

struct ThreadMemory {
  FrameChain chain;
  PythonStack stack;
  void* words[max_merged_words];
  CodeCache cache;
};

// The calling thread's; nullptr where there is no memory, or too many threads have one.
ThreadMemory* thread_memory();

}  // namespace gpumem
