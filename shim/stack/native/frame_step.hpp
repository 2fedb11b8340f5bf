// From a frame to its caller's, by its rule.
#pragma once

#include <cstdint>

#include "base/readable.hpp"
#include "stack/native/unwind_rules.hpp"

namespace gpumem {

struct Registers {
  std::uintptr_t pc, sp, rbp;  // of a frame that stays while its stack is walked
};

// `Stack` reads: read(address, value) and read_rbp(address, rbp) say whether they could; begin_frame(sp) comes first,
// depend_on_rbp() before rbp is used. False: the rule, one that names a caller, cannot be true here; `at` is then
// neither frame's.
template <typename Stack>
bool step_up(const UnwindRule& rule, Stack& stack, Registers& at) {
  using FrameEnd = UnwindRule::FrameEnd;
  using CallersRbp = UnwindRule::CallersRbp;
  stack.begin_frame(at.sp);
  if (rule.uses_rbp()) stack.depend_on_rbp();
  const auto size = static_cast<std::uintptr_t>(std::intptr_t{rule.frame_size});
  std::uintptr_t end = 0;
  switch (rule.end) {
    case FrameEnd::from_rsp: end = at.sp + size; break;
    case FrameEnd::from_rbp: end = at.rbp + size; break;
    case FrameEnd::loaded_from_rbp:
      if (!stack.read(at.rbp + size, end)) return false;
      break;
    default: return false;
  }
  if (!stack.read(end - sizeof end, at.pc)) return false;
  const std::uintptr_t rbp_place = rule.rbp == CallersRbp::saved_at_rbp
                                       ? at.rbp
                                       : end + sizeof end * static_cast<std::uintptr_t>(std::intptr_t{rule.rbp_slot});
  if (rule.rbp != CallersRbp::unchanged && !stack.read_rbp(rbp_place, at.rbp)) return false;
  at.sp = end;
  return true;
}

// Unwinders look at the bytes there, to recognise the return from a signal handler. Changes errno.
inline bool may_be_code(std::uintptr_t address) {
  constexpr std::uintptr_t last_byte_looked_at = 9;
  return is_readable(address) && is_readable(address + last_byte_looked_at - sizeof(std::uint64_t) + 1);
}

}  // namespace gpumem
