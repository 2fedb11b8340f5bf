// Keeps an unwinder that trusts what stands on a stack from a fault.
#pragma once

#include "stack/native/frame_step.hpp"

namespace gpumem {

// Whether all that a walker reads to get from this frame to its caller's can be read, and where it then looks for code.
// True also where `rule` names no caller. Asks the kernel, some 90 ns for each cell, so the stack may be any; takes no
// lock; changes errno.
bool can_step_up(const UnwindRule& rule, Registers frame);

}  // namespace gpumem
