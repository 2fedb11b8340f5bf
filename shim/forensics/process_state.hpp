// What a process can say about itself at any moment, in a few system calls.
#pragma once

#include <cstdint>

namespace gpumem {

struct ProcessState {
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};
  std::uint64_t descriptors = unknown, threads = unknown;
  std::uint64_t virtual_bytes = unknown, resident_bytes = unknown, locked_bytes = unknown, swapped_bytes = unknown;
};

// The bytes, and the threads. Nothing where no memory for a page of text can be had.
void gather_process_memory(ProcessState& state);

// No allocation, no lock, no CUDA. Takes well under 5 ms, however big the process is: descriptors that cannot be
// counted in that time are not known.
void gather_process_state(ProcessState& state);

}  // namespace gpumem
