#include "stack/native/step_guard.hpp"

namespace gpumem {
namespace {

// Its frames may lie in any order: code can run on a stack that is not its caller's.
struct AnyStack {
  void begin_frame(std::uintptr_t) {}
  void depend_on_rbp() {}
  bool read(std::uintptr_t address, std::uintptr_t& value) {
    if (!is_readable(address)) return false;
    value = *reinterpret_cast<const std::uintptr_t*>(address);
    return true;
  }
  bool read_rbp(std::uintptr_t address, std::uintptr_t& rbp) { return read(address, rbp); }
};

}  // namespace

bool can_step_up(const UnwindRule& rule, Registers frame) {
  if (!rule.names_caller()) return true;
  AnyStack stack;
  return step_up(rule, stack, frame) && (frame.pc == 0 || may_be_code(frame.pc));
}

}  // namespace gpumem
