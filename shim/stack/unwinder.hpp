// The calling thread's native stack.
//
// Three ways, each for what the one before cannot do: a stack that this thread has shown before is recognised
// (native/stack_memo), one on the thread's own stack is walked by remembered rules (native/frame_walk), and all else is
// Boost's: processors other than x86-64, signal handlers, coroutines, code without unwind data.
#pragma once

#include <cstdint>

namespace gpumem {

inline constexpr unsigned max_frames = 256;
inline constexpr std::uintptr_t unknown_frame_end = ~std::uintptr_t{0};

enum class StackSource : unsigned char { memo, rules, fallback };
inline constexpr unsigned stack_source_count = 3;

struct StackRequest {
  unsigned capacity = max_frames;  // most frames
  // Of the set of loaded libraries: grows when one has gone, because the same addresses can come to mean others.
  std::uint32_t generation = 0;
  bool by_rules = true;  // false: Boost only
  // False while a library may be going: what is known about it may not hold for what comes in its place, so each rule
  // is worked out anew, and stacks are not to be remembered either.
  bool by_memory = true;
  bool by_memo = true;
};

// Frames innermost first, those of this library left out. Valid until this thread captures again.
struct StackCapture {
  void* const* addresses = nullptr;      // where each frame returns to
  const std::uintptr_t* ends = nullptr;  // its canonical frame address: its memory lies below it, and above that of the
                                         // frame before; unknown_frame_end for the last one
  unsigned depth = 0;
  StackSource source = StackSource::fallback;
  // A place for what the caller makes of this stack. Still there the next time that this thread shows the same stack,
  // else null; dropped with the generation and in a forked child. nullptr: there is none.
  void** note = nullptr;

  // Storage for stacks that are not remembered.
  static constexpr unsigned most_own_frames = 24;
  void* own_addresses[max_frames + most_own_frames + 1];
  std::uintptr_t own_ends[max_frames + most_own_frames + 1];

  void show_own(unsigned count, StackSource from) {
    addresses = own_addresses;
    ends = own_ends;
    depth = count;
    source = from;
    note = nullptr;
  }
};

// Takes no lock of ours and allocates nothing for a stack that was seen before; resolves nothing. Without rules, or
// where they do not do, the first call in a process loads libgcc_s, as glibc's own backtrace() does; the stack is empty
// where that cannot be had.
void capture_stack(const StackRequest& request, StackCapture& capture);

// The same by Boost alone.
void capture_with_boost(const StackRequest& request, StackCapture& capture);

// Finds libgcc_s, loading it as glibc's own backtrace() does where the program has none. That takes the loader's lock,
// so it is best done where the program has asked for the lock itself, as in dlsym; a capture does it otherwise.
void prepare_unwinder();

}  // namespace gpumem
