// The calling thread's chain of Python frames, read without the GIL.
//
// The chain changes only by what its own thread does, so a thread that is inside our code may read its own. No
// reference is counted, nothing is locked, allocated or written.
#pragma once

#include <cstdint>

#include "stack/python/interpreter.hpp"

namespace gpumem {

inline constexpr unsigned max_python_frames = 256;

// A code object, whose type has been checked, and the byte offset of the instruction that runs in it.
struct PythonFrame {
  std::uintptr_t code;
  std::int32_t offset;
};

// Frames that one activation of the interpreter's C function runs.
struct FrameGroup {
  std::uintptr_t anchor;  // an address within that function's part of the native stack; 0: unknown
  std::uint16_t first, count;
};

struct FrameChain {
  PythonFrame frames[max_python_frames];  // innermost first
  FrameGroup groups[max_python_frames];
  unsigned count, group_count;
  bool cut;
};

// Reads the frames of a thread's state. nullptr, or the reason why it is not what was expected, for which the chain
// must not be used. With `probes`, survives pointers to nowhere, and changes errno.
const char* read_frame_chain(const Interpreter& interpreter, std::uintptr_t thread_state, bool probes,
                             FrameChain& chain);

}  // namespace gpumem
