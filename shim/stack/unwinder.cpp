#include "stack/unwinder.hpp"

#include <atomic>

#include <execinfo.h>
#include <unwind.h>
#include <boost/stacktrace/safe_dump_to.hpp>

#include "base/loaded_objects.hpp"

// Boost.Stacktrace calls these; linking them would make every program under the shim load libgcc_s.
namespace gpumem {
namespace {

struct UnwindLibrary {
  using Backtrace = _Unwind_Reason_Code (*)(_Unwind_Trace_Fn, void*);
  using GetIP = _Unwind_Ptr (*)(_Unwind_Context*);
  using GetIPInfo = _Unwind_Ptr (*)(_Unwind_Context*, int*);
  std::atomic<Backtrace> backtrace{nullptr};
  std::atomic<GetIP> get_ip{nullptr};
  std::atomic<GetIPInfo> get_ip_info{nullptr};
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
    if (walk == nullptr || ip == nullptr || ip_info == nullptr) return false;
    unwind_library.get_ip.store(reinterpret_cast<UnwindLibrary::GetIP>(ip), std::memory_order_relaxed);
    unwind_library.get_ip_info.store(reinterpret_cast<UnwindLibrary::GetIPInfo>(ip_info), std::memory_order_relaxed);
    unwind_library.backtrace.store(reinterpret_cast<UnwindLibrary::Backtrace>(walk), std::memory_order_release);
    return true;
  });
}

}  // namespace

extern "C" {
_Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn visit, void* data) {
  const auto walk = unwind_library.backtrace.load(std::memory_order_acquire);
  return walk != nullptr ? walk(visit, data) : _URC_END_OF_STACK;
}
_Unwind_Ptr _Unwind_GetIP(_Unwind_Context* context) {
  return unwind_library.get_ip.load(std::memory_order_relaxed)(context);
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

unsigned capture_stack(void** frames, unsigned capacity) {
  prepare_unwinder();
  // Boost ends the dump with a null. Frames of ours come first, and again between the runtime and the driver.
  constexpr unsigned own_frames = 24;
  void* dump[max_frames + own_frames + 1];
  if (capacity > max_frames) capacity = max_frames;
  boost::stacktrace::safe_dump_to(dump, (capacity + own_frames + 1) * sizeof(void*));
  const LoadedObject self = this_object();
  unsigned kept = 0;
  for (void* const* frame = dump; *frame != nullptr && kept < capacity; ++frame)
    if (!self.contains(reinterpret_cast<std::uintptr_t>(*frame))) frames[kept++] = *frame;
  return kept;
}

}  // namespace gpumem
