// The runtime's functions by theme.
#pragma once

#include "conformance.hpp"

using Handle = void*;
inline constexpr std::size_t too_much = (1ull << 50) + 17;
inline constexpr Handle no_stream = nullptr;

inline Library cuda;
inline int version = 0;  // of the runtime: some functions are not what they were

inline void last_error() {
  cuda.call("cudaPeekAtLastError", "after that");
  cuda.call("cudaGetLastError", "after that");
}

void memory();
void foreign_memory();
void graphs();
void code_and_streams();
