// The calling thread's native stack, as return addresses.
#pragma once

namespace gpumem {

inline constexpr unsigned max_frames = 256;

// Finds libgcc_s, loading it as glibc's own backtrace() does where the program has none. That takes the loader's lock,
// so it is best done where the program has asked for the lock itself, as in dlsym; capture_stack() does it otherwise.
void prepare_unwinder();

// Fills `frames`, innermost first, and returns how many; at most `capacity`. Frames of this library are left out.
// Takes no lock of ours, allocates nothing, resolves nothing. The first call in a process loads libgcc_s, as glibc's
// own backtrace() does; 0 where that cannot be had.
unsigned capture_stack(void** frames, unsigned capacity);

}  // namespace gpumem
