// The functions of tests/programs/stack_paths.cpp, and what libgcc's unwinder sees of their stacks.
#pragma once

#include <dlfcn.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "base/loaded_objects.hpp"
#include "stack/unwinder.hpp"
#include "stack_paths.hpp"

namespace gpumem::test {

// As the shim's dlclose keeps them.
inline std::atomic<std::uint32_t> unloads_done{0}, unloads_running{0};

// Open as long as it lives.
class PathLibrary {
 public:
  explicit PathLibrary(int variant)
      : handle_(dlopen((PROGRAMS_FOLDER "/stack_paths_" + std::to_string(variant) + ".so").c_str(), RTLD_NOW)) {}
  ~PathLibrary() {
    if (handle_ == nullptr) return;
    ++unloads_running;
    dlclose(handle_);
    ++unloads_done;
    --unloads_running;
  }
  PathLibrary(const PathLibrary&) = delete;

  StackPath::Function function(unsigned number) const {
    return reinterpret_cast<StackPathFunction>(dlsym(handle_, "stack_path_function"))(number);
  }

  // For dlclose() by the caller, uncounted.
  void* release() { return std::exchange(handle_, nullptr); }

 private:
  void* handle_;
};

// Those of all given libraries in turn, so that neighbours lie in different files.
inline std::vector<StackPath::Function> functions_of(std::initializer_list<const PathLibrary*> libraries) {
  std::vector<StackPath::Function> all;
  for (unsigned number = 0; number < StackPath::function_count; ++number)
    for (const PathLibrary* library : libraries) all.push_back(library->function(number));
  return all;
}

// libgcc's own, for the shim's forwarding function has the same name.
inline auto libgcc_backtrace() {
  static const auto function =
      reinterpret_cast<decltype(&_Unwind_Backtrace)>(dlsym(dlopen("libgcc_s.so.1", RTLD_NOW), "_Unwind_Backtrace"));
  return function;
}

// As capture_stack() shows it: without this file's own frames, and without the null behind the last.
inline std::vector<void*> unwound_by_libgcc(unsigned most = max_frames) {
  prepare_unwinder();
  std::vector<void*> frames;
  frames.reserve(512);
  libgcc_backtrace()(
      [](_Unwind_Context* context, void* data) {
        auto& all = *static_cast<std::vector<void*>*>(data);
        all.push_back(reinterpret_cast<void*>(_Unwind_GetIP(context)));
        return all.size() == all.capacity() ? _URC_END_OF_STACK : _URC_NO_REASON;
      },
      &frames);
  if (!frames.empty() && frames.back() == nullptr) frames.pop_back();
  const LoadedObject self = this_object();
  std::erase_if(frames, [&](void* frame) { return self.contains(reinterpret_cast<std::uintptr_t>(frame)); });
  if (frames.size() > most) frames.resize(most);
  return frames;
}

// Unknown to the compiler: a loop that is not one has several call sites.
inline volatile int twice = 2;

struct Tally {
  StackRequest request;
  unsigned long captures = 0, wrong = 0;
  std::array<unsigned long, stack_source_count> by{};

  void capture_and_compare() {
    StackCapture ours;
    request.by_memory = unloads_running == 0;
    request.generation = unloads_done;
    capture_stack(request, ours);
    ++captures;
    ++by[static_cast<unsigned>(ours.source)];
    if (unwound_by_libgcc(request.capacity) != std::vector<void*>(ours.addresses, ours.addresses + ours.depth)) ++wrong;
  }
  unsigned long by_memo() const { return by[static_cast<unsigned>(StackSource::memo)]; }
  unsigned long by_rules() const { return by[static_cast<unsigned>(StackSource::rules)]; }
  unsigned long by_fallback() const { return by[static_cast<unsigned>(StackSource::fallback)]; }
};

inline void compare(void* tally) { static_cast<Tally*>(tally)->capture_and_compare(); }

inline void follow(const std::vector<StackPath::Function>& functions, const std::vector<unsigned>& turns,
                   Tally& tally) {
  StackPath path{turns.data(), functions.data(), static_cast<unsigned>(functions.size()), compare, &tally};
  functions[turns.back() % functions.size()](path, static_cast<unsigned>(turns.size()) - 1);
}

}  // namespace gpumem::test
