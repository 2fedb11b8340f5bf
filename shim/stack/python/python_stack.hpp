// The calling thread's Python stack, without the GIL, without a reference, without a call into Python that could wait.
//
// What is not what it was expected to be gives no stack instead of a wrong one. Must not be called in a signal handler
// that may have interrupted Python or this.
#pragma once

#include <cstdint>

#include "stack/python/frame_chain.hpp"
#include "stack/python/place_table.hpp"

namespace gpumem {

enum class PythonState : std::uint8_t {
  absent,  // the process has no Python
  none,    // the thread runs no Python code
  read,
  cut,         // read, but for what is further out
  finalizing,  // Python comes to its end, and takes its threads' frames away
  refused,     // this stack was not what it should have been
  declined,    // no stack of this interpreter is read
};
inline constexpr unsigned python_state_count = 7;

// With the native frames of a merged stack, and one word more.
inline constexpr unsigned max_merged_words = 256 + max_python_frames + 1;

struct PythonStack {
  CodePlace* places[max_python_frames];  // innermost first
  FrameGroup groups[max_python_frames];
  unsigned count, group_count;
};

struct PythonReading {
  PythonState state = PythonState::absent;
  // Only with `read` and `cut`. The thread's own, until its next reading.
  const PythonStack* stack = nullptr;
  void** words = nullptr;  // room for max_merged_words, as long as that
};

// `native_is_known`: this thread has read a stack with the same native frames before, and no library has gone since.
// Then no interpreter can be on it that was not there then, and none is looked for, which would take the loader's lock.
PythonReading read_python_stack(PlaceTable& places, bool native_is_known = false);

}  // namespace gpumem
