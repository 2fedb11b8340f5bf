// Where CPython keeps what a stack is read from, for each version: offsets in bytes, x86-64.
//
// From 3.13 on the interpreter tells most of them itself, and is believed over the table.
#pragma once

#include <cstdint>

namespace gpumem {

enum class FrameChainKind : std::uint8_t {
  frame_objects,              // up to 3.9
  frame_objects_and_cframes,  // 3.10: each frame has a record of its own on the C stack
  entry_marks,                // 3.11: a mark at the last frame of each activation of the interpreter
  cframe_and_shims,           // 3.12: a frame of no code, on the C stack, below those of each activation
  shims,                      // 3.13 and later
};

enum class LineTableKind : std::uint8_t { address_steps, ranges, locations };  // up to 3.9, 3.10, 3.11 and later

struct PythonLayout {
  using Offset = std::uint16_t;
  std::uint8_t minor;
  bool free_threaded;
  FrameChainKind chain;
  LineTableKind lines;

  struct {
    Offset type, size, bytes_size, bytes_data;
  } object;
  struct {
    Offset length, state, ascii, other;  // the last two: where the characters begin
    std::uint32_t kind_mask, kind_shift, compact, is_ascii, ready;
  } text;
  struct {
    Offset id, frame;  // `frame` leads to a cframe in 3.11 and 3.12
  } thread;
  struct {
    Offset in_thread, frame, previous;
  } cframe;
  struct {
    Offset code, previous, instruction, owner, entry, bytecode_index;
    std::uint8_t tags;  // low bits of `code` that are no part of the pointer
  } frame;
  struct {
    Offset file, name, first_line, lines, instructions, first_traceable, version, bytecodes;  // 0: has none
  } code;
};

// The table's layout; nullptr for a version that is not in it.
const PythonLayout* known_layout(unsigned minor, bool free_threaded);

// What _PyRuntime begins with from 3.13 on.
bool has_debug_offsets(unsigned minor);
struct DebugOffsetsHead {
  char cookie[8];
  std::uint64_t version, free_threaded;
  bool is_valid() const;
};
// Takes the interpreter's own offsets over. False, and nothing changed, where they make no sense.
bool take_debug_offsets(std::uintptr_t runtime, PythonLayout& layout);

}  // namespace gpumem
