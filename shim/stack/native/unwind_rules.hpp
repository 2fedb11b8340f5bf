// How to get from a frame to its caller's, for one place in the code: a call frame program, run once and remembered.
#pragma once

#include <cstdint>

#include "base/loaded_objects.hpp"

namespace gpumem {

// A frame ends at its canonical frame address (CFA), which is the stack pointer in the caller after the call; the
// return address lies just below it.
struct UnwindRule {
  enum class FrameEnd : std::uint8_t {
    unsupported,      // something else has to walk this stack
    outermost,        // no caller
    from_rsp,         // rsp + frame_size
    from_rbp,         // rbp + frame_size
    loaded_from_rbp,  // what lies at rbp + frame_size: frames with an aligned stack
  };
  enum class CallersRbp : std::uint8_t { unchanged, saved_below_end, saved_at_rbp };

  std::int32_t frame_size = 0;
  std::int16_t rbp_slot = 0;  // saved_below_end: in units of 8 bytes from the frame's end
  FrameEnd end = FrameEnd::unsupported;
  CallersRbp rbp = CallersRbp::unchanged;

  bool uses_rbp() const {
    return end == FrameEnd::from_rbp || end == FrameEnd::loaded_from_rbp || rbp == CallersRbp::saved_at_rbp;
  }
  bool names_caller() const { return end != FrameEnd::unsupported && end != FrameEnd::outermost; }
  bool operator==(const UnwindRule&) const = default;
};
static_assert(sizeof(UnwindRule) == sizeof(std::uint64_t));

// For a place at which code of the object stands: a call's, or any at which registers are known. The object must stay
// mapped meanwhile.
UnwindRule derive_rule(const LoadedObject& object, std::uintptr_t address);

}  // namespace gpumem
