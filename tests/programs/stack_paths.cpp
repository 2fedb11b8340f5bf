// Functions whose frames differ in size and kind: plain ones, ones with alloca (frame pointer), ones with an aligned
// stack. Built several times with another STACK_PATHS_VARIANT each: the same addresses with other frames.
#include "stack_paths.hpp"

#include <utility>

#include <alloca.h>

namespace {

constexpr unsigned variant = STACK_PATHS_VARIANT;

void use(void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

// Two calls in one frame: a stack can differ in nothing but which of them it came through.
__attribute__((always_inline)) inline void call_next(StackPath& path, unsigned depth) {
  const unsigned turn = path.turns[depth];
  if (depth == 0) return path.at_the_end(path.data);
  const StackPath::Function next = path.functions[(turn & ~StackPath::second_call) % path.function_total];
  if (turn & StackPath::second_call) {
    next(path, depth - 1);
    asm volatile("nop");
  } else {
    next(path, depth - 1);
    asm volatile("nop\n\tnop");
  }
}

// Arguments on the stack and variables that are aligned more than it: the frame is found through a pointer in it.
__attribute__((noinline)) void with_aligned_stack(StackPath& path, unsigned depth, long, long, long, long, long last) {
  alignas(64) volatile char aligned[64] = {static_cast<char>(last)};
  use(const_cast<char*>(aligned));
  use(alloca(16 + (last & 31)));
  call_next(path, depth);
  use(const_cast<char*>(aligned));
}

template <unsigned number>
__attribute__((noinline)) void function(StackPath& path, unsigned depth) {
  volatile unsigned long plain[1 + (number * 5 + variant * 3) % 17];
  plain[0] = depth;
  if constexpr (number % 8 == 5) use(alloca(16 + (path.turns[depth] & 31)));
  if constexpr (number % 8 == 3) {
    with_aligned_stack(path, depth, 1, 2, 3, 4, depth);
  } else {
    call_next(path, depth);
  }
  use(const_cast<unsigned long*>(plain));
}

template <unsigned... number>
StackPath::Function pick(unsigned wanted, std::integer_sequence<unsigned, number...>) {
  constexpr StackPath::Function all[] = {function<number>...};
  return all[wanted % sizeof...(number)];
}

}  // namespace

extern "C" StackPath::Function stack_path_function(unsigned number) {
  return pick(number, std::make_integer_sequence<unsigned, StackPath::function_count>());
}
