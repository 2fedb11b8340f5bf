#include "stack/native/step_guard.hpp"

namespace gpumem {

bool StepGuard::read(std::uintptr_t address, std::uintptr_t& value) {
  constexpr std::uintptr_t page_size = 4096, room_of_walk = 16 * 1024;
  if (beginning_ - address - 1 < room_of_walk) return false;
  const std::uintptr_t page = address / page_size;
  const bool ends_in_it = page == (address + sizeof value - 1) / page_size;
  if (page != readable_page_ || !ends_in_it) {
    if (!is_readable(address)) return false;
    readable_page_ = page;
  }
  value = *reinterpret_cast<const std::uintptr_t*>(address);
  return true;
}

bool StepGuard::can_step_up(const UnwindRule& rule, Registers frame) {
  if (beginning_ == 0) beginning_ = frame.sp;
  if (!rule.names_caller()) return true;
  if (!step_up(rule, *this, frame)) return false;
  return frame.pc == 0 || rule_for(frame.pc).end != UnwindRule::FrameEnd::unsupported || may_be_code(frame.pc);
}

}  // namespace gpumem
