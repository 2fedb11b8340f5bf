// The calling thread's native stack, as return addresses.
#pragma once

namespace gpumem {

inline constexpr unsigned max_frames = 256;

// Fills `frames`, innermost first, and returns how many; at most `capacity`. Frames of this library are left out.
// Takes no lock of ours, allocates nothing, resolves nothing. The first call in a process loads libgcc_s, as glibc's
// own backtrace() does; 0 where that cannot be had.
unsigned capture_stack(void** frames, unsigned capacity);

}  // namespace gpumem
