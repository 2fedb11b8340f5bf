// Keeps an unwinder that trusts what stands on a stack from a fault.
#pragma once

#include "stack/native/frame_step.hpp"
#include "stack/native/rule_cache.hpp"

namespace gpumem {

// For one walk of any stack, which begins at the frame that is asked about first. Asks the kernel what can be read,
// once for each page in a row; changes errno.
class StepGuard {
 public:
  explicit StepGuard(RuleCache& rules) : rules_(rules) {}

  // For the frame that the call returns to.
  UnwindRule rule_for(std::uintptr_t return_address) { return rules_.rule_for(return_address); }

  // Whether all that a walker reads to get from this frame to its caller's can be read, and where it then looks for
  // code. True also where `rule` names no caller.
  bool can_step_up(const UnwindRule& rule, Registers frame);

  // For step_up(). Frames may lie in any order: code can run on a stack that is not its caller's. Just below where the
  // walk began there are none, but what the walk itself has there, which changes before it is read again.
  void begin_frame(std::uintptr_t) {}
  void depend_on_rbp() {}
  bool read(std::uintptr_t address, std::uintptr_t& value);
  bool read_rbp(std::uintptr_t address, std::uintptr_t& rbp) { return read(address, rbp); }

 private:
  RuleCache& rules_;
  std::uintptr_t beginning_ = 0;
  std::uintptr_t readable_page_ = ~std::uintptr_t{0};  // none
};

}  // namespace gpumem
