// The driver's functions by theme. After contexts(), a context is current in all.
#pragma once

#include "conformance.hpp"

using Pointer = unsigned long long;
using Handle = void*;
inline constexpr std::size_t too_much = (1ull << 50) + 17, page_bytes = 2u << 20;
inline constexpr Handle no_stream = nullptr;

inline const Library cuda("libcuda.so.1");

void contexts();  // makes its own, and the primary one current
void memory();
void pools();
void virtual_memory();
void foreign_memory();
void graphs();
void code_and_streams();
