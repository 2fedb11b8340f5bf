// Native and Python frames of one thread as one sequence of words.
//
// A word is a return address, or carries a tag that no address of a program can have.
#pragma once

#include <cstdint>

#include "stack/python/python_stack.hpp"

namespace gpumem {

struct NativeStack {
  void* const* frames = nullptr;         // return addresses, innermost first
  const std::uintptr_t* tops = nullptr;  // where each frame's part of the stack ends (its CFA); nullptr: not known
  unsigned count = 0;
  bool cut = false;
};

inline constexpr unsigned extra_words = 1;  // besides those of the frames

// Whether a merged stack differs from the native one.
bool adds_words(const PythonReading& python);

// Fills `words`, which has room for all frames of both and extra_words, and returns how many. They may be those of
// native.frames where there are no Python frames. The Python frames of each activation of the interpreter stand before
// the native frame that runs them; those whose native frame is not found follow at the end. `loop`: the interpreter's
// main function, for versions that tell no addresses. A state that means that Python frames are missing is a word of
// its own.
unsigned merge_stacks(const NativeStack& native, const PythonReading& python, const MemoryRange& loop, void** words);

CodePlace* place_in_word(const void* word);   // nullptr: it is none
PythonState state_in_word(const void* word);  // `absent`: it is none

}  // namespace gpumem
