// Stacks in the journal, with the files and the Python places that they lead to.
//
// Each segment of the journal has all that its lines refer to.
#pragma once

#include <cstdint>

#include "segment_lines.hpp"

namespace gpumem {

// The number of the calling thread's stack. 0: none could be taken.
std::uint32_t stack_here(Session& session);

// Unless the segment has it already, writes the stack there. False: it is not in there, as after the next segment's
// beginning.
bool write_stack_once(Session& session, std::uint32_t stack, std::uint32_t segment);

// Calls write(segment), which writes a line that refers to the stack into that segment and says whether it could, where
// the stack is.
template <class Write>
bool write_with_stack(Session& session, std::uint32_t stack, Write&& write) {
  return write_in_newest_segment(session, [&](std::uint32_t segment) {
    if (stack != 0) write_stack_once(session, stack, segment);
    return write(segment);
  });
}

}  // namespace gpumem
