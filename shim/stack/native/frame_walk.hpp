// A walk up the calling thread's own stack by rules.
#pragma once

#include <cstdint>

#include "stack/native/frame_step.hpp"
#include "stack/native/own_stack.hpp"
#include "stack/native/rule_cache.hpp"
#include "stack/unwinder.hpp"

namespace gpumem {

// What a walk has read: the same registers and the same values in the same cells make the same stack.
struct WalkTrace {
  struct Cell {
    std::uintptr_t address, value;
  };
  Cell* cells = nullptr;
  std::uint32_t capacity = 0, count = 0;
  bool is_whole = true;  // everything fitted
  bool used_rbp = false;
};

enum class WalkEnd : std::uint8_t {
  whole,   // the outermost frame, or as many as wanted
  broken,  // a frame that is not what its code says, as where a greenlet's part of the stack ends
  unruly,  // a frame that has no rule here, though other means may find its caller
};

// Fills `capture` up to `capacity` frames, without those of this library, and `trace`. Follows no pointer off the
// stack. After `broken` the frames are those up to there; nothing that trusts the stack may go on from it. After
// `unruly` there are none: something else has to walk. Changes errno unless `whole`.
WalkEnd walk_frames(const Registers& start, const StackBounds& bounds, RuleCache& rules, unsigned capacity,
                    StackCapture& capture, WalkTrace& trace);

}  // namespace gpumem
