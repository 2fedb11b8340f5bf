#include "stack/unwinder.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include <execinfo.h>
#include <unwind.h>
#include <boost/stacktrace/safe_dump_to.hpp>

#include "base/loaded_objects.hpp"
#include "stack/native/step_guard.hpp"

// Boost.Stacktrace calls these; linking them would make every program under the shim load libgcc_s.
namespace gpumem {
namespace {

struct UnwindLibrary {
  using Backtrace = _Unwind_Reason_Code (*)(_Unwind_Trace_Fn, void*);
  using GetIP = _Unwind_Ptr (*)(_Unwind_Context*);
  using GetIPInfo = _Unwind_Ptr (*)(_Unwind_Context*, int*);
  using GetCFA = _Unwind_Word (*)(_Unwind_Context*);
  using GetGR = _Unwind_Word (*)(_Unwind_Context*, int);
  std::atomic<Backtrace> backtrace{nullptr};
  std::atomic<GetIP> get_ip{nullptr};
  std::atomic<GetIPInfo> get_ip_info{nullptr};
  std::atomic<GetCFA> get_cfa{nullptr};
  std::atomic<GetGR> get_register{nullptr};
  std::atomic<bool> sought{false};
} unwind_library;

// Only a library that stays: one that the program was started with, or that backtrace() has loaded.
bool find_unwind_library(bool loaded_by_backtrace) {
  return any_object([loaded_by_backtrace](const LoadedObject& object) {
    if (!loaded_by_backtrace && !was_loaded_at_startup(object)) return false;
    const auto starts_with_gcc = [](const char* text) {
      for (const char* want = "libgcc_s.so"; *want; ++want, ++text)
        if (*text != *want) return false;
      return true;
    };
    if (!starts_with_gcc(object.soname())) return false;
    void* walk = object.exported_function("_Unwind_Backtrace");
    void* ip = object.exported_function("_Unwind_GetIP");
    void* ip_info = object.exported_function("_Unwind_GetIPInfo");
    void* cfa = object.exported_function("_Unwind_GetCFA");
    void* gr = object.exported_function("_Unwind_GetGR");
    if (walk == nullptr || ip == nullptr || ip_info == nullptr || cfa == nullptr || gr == nullptr) return false;
    unwind_library.get_ip.store(reinterpret_cast<UnwindLibrary::GetIP>(ip), std::memory_order_relaxed);
    unwind_library.get_ip_info.store(reinterpret_cast<UnwindLibrary::GetIPInfo>(ip_info), std::memory_order_relaxed);
    unwind_library.get_cfa.store(reinterpret_cast<UnwindLibrary::GetCFA>(cfa), std::memory_order_relaxed);
    unwind_library.get_register.store(reinterpret_cast<UnwindLibrary::GetGR>(gr), std::memory_order_relaxed);
    unwind_library.backtrace.store(reinterpret_cast<UnwindLibrary::Backtrace>(walk), std::memory_order_release);
    return true;
  });
}

// What belongs to the walk that runs on this thread. Boost asks only for addresses, once for each frame.
struct Walk {
  std::uintptr_t* stack_pointers;
  StepGuard guard;
  unsigned count = 0;
  bool has_ended = false;  // an address of 0 was seen
};
constinit thread_local Walk* this_walk __attribute__((tls_model("initial-exec"))) = nullptr;

constexpr unsigned most_stack_pointers = sizeof StackCapture::own_ends / sizeof *StackCapture::own_ends;

struct Visitor {
  _Unwind_Trace_Fn visit;
  void* data;
};

#if defined(__x86_64__)

// libgcc follows whatever stands where a return address should. What no rule covers is left to it.
bool can_go_on(_Unwind_Context* context) {
  constexpr int number_of_rbp = 6;
  int stands_at_it = 0;
  const std::uintptr_t pc = unwind_library.get_ip_info.load(std::memory_order_relaxed)(context, &stands_at_it);
  StepGuard& guard = this_walk->guard;
  const UnwindRule rule = guard.rule_for(stands_at_it ? pc + 1 : pc);
  const auto sp = unwind_library.get_cfa.load(std::memory_order_relaxed)(context);
  const auto of_frame = unwind_library.get_register.load(std::memory_order_relaxed);
  return guard.can_step_up(rule, {pc, sp, rule.uses_rbp() ? of_frame(context, number_of_rbp) : 0});
}

#else

bool can_go_on(_Unwind_Context*) { return true; }

#endif

_Unwind_Reason_Code visit_and_look_ahead(_Unwind_Context* context, void* data) {
  const auto& visitor = *static_cast<const Visitor*>(data);
  const _Unwind_Reason_Code said = visitor.visit(context, visitor.data);
  return said == _URC_NO_REASON && !can_go_on(context) ? _URC_END_OF_STACK : said;
}

}  // namespace

extern "C" {
_Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn visit, void* data) {
  const auto walk = unwind_library.backtrace.load(std::memory_order_acquire);
  Visitor visitor{visit, data};
  return walk != nullptr ? walk(visit_and_look_ahead, &visitor) : _URC_END_OF_STACK;
}
_Unwind_Ptr _Unwind_GetIP(_Unwind_Context* context) {
  const _Unwind_Ptr address = unwind_library.get_ip.load(std::memory_order_relaxed)(context);
  if (Walk* noted = this_walk) {
    if (noted->count < most_stack_pointers)
      noted->stack_pointers[noted->count] = unwind_library.get_cfa.load(std::memory_order_relaxed)(context);
    ++noted->count;
    noted->has_ended |= address == 0;
  }
  return address;
}
_Unwind_Ptr _Unwind_GetIPInfo(_Unwind_Context* context, int* before) {
  return unwind_library.get_ip_info.load(std::memory_order_relaxed)(context, before);
}
}

void prepare_unwinder() {
  if (unwind_library.sought.load(std::memory_order_acquire)) return;
  if (!find_unwind_library(false)) {
    // glibc loads libgcc_s for its own backtrace() in a way that no dlerror() shows, and keeps it.
    void* frame;
    backtrace(&frame, 1);
    find_unwind_library(true);
  }
  unwind_library.sought.store(true, std::memory_order_release);
}

void capture_with_boost(const StackRequest& request, StackCapture& capture) {
  prepare_unwinder();
  // Boost ends the dump with a null. Frames of ours come first, and again between the runtime and the driver.
  const unsigned capacity = std::min(request.capacity, max_frames);
  void** frames = capture.own_addresses;
  capture.own_addresses[0] = nullptr;
  const int saved_errno = errno;
  Walk walk{capture.own_ends, StepGuard(shared_rules(request.by_memory, request.generation))};
  Walk* const outer = std::exchange(this_walk, &walk);
  boost::stacktrace::safe_dump_to(frames, (capacity + StackCapture::most_own_frames + 1) * sizeof(void*));
  this_walk = outer;
  errno = saved_errno;
  unsigned walked = 0;
  while (frames[walked] != nullptr) ++walked;
  // Boost itself skipped the innermost ones; a frame ends where its caller's stack pointer is.
  const unsigned shown = walked + (walk.has_ended ? 1 : 0), noted = std::min(walk.count, most_stack_pointers);
  const unsigned skipped = walk.count - std::min(walk.count, shown);
  const LoadedObject self = this_object();
  unsigned kept = 0;
  for (unsigned i = 0; i < walked && kept < capacity; ++i) {
    if (self.contains(reinterpret_cast<std::uintptr_t>(frames[i]))) continue;
    const unsigned caller = skipped + i + 1;
    capture.own_ends[kept] = caller < noted ? walk.stack_pointers[caller] : unknown_frame_end;
    frames[kept++] = frames[i];
  }
  capture.show_own(kept, StackSource::fallback);
}

}  // namespace gpumem
