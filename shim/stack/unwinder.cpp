#include "stack/unwinder.hpp"

#include <algorithm>
#include <cerrno>

#include "stack/native/stack_memo.hpp"

namespace gpumem {

#if defined(__x86_64__)

namespace {

bool walk_from(const Registers& start, const StackRequest& request, StackCapture& capture) {
  RuleCache& rules = shared_rules(request.by_memory, request.generation);
  const StackMemo::Use memo(request.generation);
  const StackBounds bounds = memo ? memo->bounds(start.sp) : own_stack(start.sp);
  if (!bounds.contains(start.sp)) return false;
  const bool remember = memo && request.by_memory && request.by_memo;
  if (remember && memo->recall(start, request.capacity, capture)) return true;
  WalkTrace trace = remember ? memo->blank() : WalkTrace{};
  const int saved_errno = errno;
  const WalkEnd end = walk_frames(start, bounds, rules, request.capacity, capture, trace);
  errno = saved_errno;
  if (end == WalkEnd::whole && remember) memo->store(start, request.capacity, trace, capture);
  return end != WalkEnd::unruly;
}

}  // namespace

// Its frame stays until the walk has ended: nothing here is a call at the end.
__attribute__((noinline)) void capture_stack(const StackRequest& request, StackCapture& capture) {
  StackRequest bounded = request;
  bounded.capacity = std::min(request.capacity, max_frames);
  if (bounded.by_rules) {
    Registers here;
    asm volatile(
        "lea 0(%%rip), %0\n\t"
        "mov %%rsp, %1\n\t"
        "mov %%rbp, %2"
        : "=&r"(here.pc), "=&r"(here.sp), "=&r"(here.rbp));
    if (walk_from(here, bounded, capture)) return;
  }
  capture_with_boost(bounded, capture);
}

#else

void capture_stack(const StackRequest& request, StackCapture& capture) { capture_with_boost(request, capture); }

#endif

}  // namespace gpumem
