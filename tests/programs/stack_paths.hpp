// Calls through many functions in an order that the caller chooses, to make stacks of any shape.
#pragma once

struct StackPath {
  using Function = void (*)(StackPath&, unsigned depth);
  static constexpr unsigned function_count = 24;  // of each library

  const unsigned* turns;  // for each depth: which function is next, and bit 31: from which of two calls
  const Function* functions;
  unsigned function_total;
  void (*at_the_end)(void*);
  void* data;

  static constexpr unsigned second_call = 1u << 31;
};

using StackPathFunction = StackPath::Function (*)(unsigned number);  // "stack_path_function" of a library
