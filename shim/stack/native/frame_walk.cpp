#include "stack/native/frame_walk.hpp"

#include "base/lazy.hpp"

namespace gpumem {
namespace {

// Adds what is read to the trace. A saved rbp counts only once something depends on it: most functions keep other
// values there.
class TracedStack {
 public:
  TracedStack(const StackBounds& bounds, WalkTrace& trace) : bounds_(bounds), trace_(trace) {}

  bool read(std::uintptr_t address, std::uintptr_t& value) {
    if (!can_read(address)) return false;
    value = *reinterpret_cast<const std::uintptr_t*>(address);
    add({address, value});
    return true;
  }

  bool read_rbp(std::uintptr_t address, std::uintptr_t& rbp) {
    if (!can_read(address)) return false;
    rbp = *reinterpret_cast<const std::uintptr_t*>(address);
    pending_ = {address, rbp};
    from_start_ = false;
    return true;
  }

  void depend_on_rbp() {
    if (from_start_) trace_.used_rbp = true;
    if (pending_.address != 0) add(pending_);
    pending_.address = 0;
  }

  void begin_frame(std::uintptr_t sp) { sp_ = sp; }

 private:
  bool can_read(std::uintptr_t address) const {
    return address >= sp_ && address % sizeof(std::uintptr_t) == 0 && address < bounds_.hi &&
           bounds_.hi - address >= sizeof(std::uintptr_t);
  }

  void add(WalkTrace::Cell cell) {
    if (trace_.count == trace_.capacity) {
      trace_.is_whole = false;
    } else {
      trace_.cells[trace_.count++] = cell;
    }
  }

  const StackBounds& bounds_;
  WalkTrace& trace_;
  std::uintptr_t sp_ = 0;
  WalkTrace::Cell pending_{};
  bool from_start_ = true;
};

}  // namespace

WalkEnd walk_frames(const Registers& start, const StackBounds& bounds, RuleCache& rules, unsigned capacity,
                    StackCapture& capture, WalkTrace& trace) {
  static constinit Lazy<LoadedObject> self;
  const LoadedObject& own = self.get(this_object);
  TracedStack stack(bounds, trace);
  Registers at = start;
  // A rule is looked up by where a call returns to, and the first frame stands at an instruction of its own.
  UnwindRule rule = rules.rule_for(start.pc + 1);
  WalkEnd end = WalkEnd::whole;
  unsigned depth = 0;
  bool in_kept_frame = false;
  while (depth < capacity && rule.end != UnwindRule::FrameEnd::outermost) {
    if (rule.end == UnwindRule::FrameEnd::unsupported) {
      if (may_be_code(at.pc)) return WalkEnd::unruly;
      depth -= in_kept_frame;  // what was read as its address is none
      end = WalkEnd::broken;
      break;
    }
    if (!step_up(rule, stack, at)) {
      end = WalkEnd::broken;
      break;
    }
    if (in_kept_frame) capture.own_ends[depth - 1] = at.sp;
    if (at.pc == 0) break;
    rule = rules.rule_for(at.pc);
    in_kept_frame = !own.contains(at.pc);
    if (!in_kept_frame) continue;
    capture.own_addresses[depth] = reinterpret_cast<void*>(at.pc);
    capture.own_ends[depth++] = unknown_frame_end;
  }
  capture.show_own(depth, StackSource::rules);
  return end;
}

}  // namespace gpumem
