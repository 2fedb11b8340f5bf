// What the programs of runtimes of several versions share: the runtime of a given file, and ways that their arguments
// choose. What fails although it should not ends the program with its name.
#pragma once

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "ways.hpp"

inline void* library = nullptr;
inline int version = 0;
inline const cudaStream_t no_stream = nullptr;

template <class... Arguments>
int code_of(const char* symbol, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, symbol));
  if (function == nullptr) std::printf("%s: not there\n", symbol), std::exit(3);
  return function(arguments...);
}

template <class... Arguments>
void must(const char* symbol, Arguments... arguments) {
  const int code = code_of(symbol, arguments...);
  if (code != 0) std::printf("%s: %d\n", symbol, code), std::exit(3);
}

template <class... Arguments>
void must_fail(const char* symbol, Arguments... arguments) {
  if (code_of(symbol, arguments...) == 0) std::printf("%s should fail\n", symbol), std::exit(3);
}

constexpr std::size_t page = 4096;

// PROGRAM LIBCUDART WAY…
template <std::size_t count>
int run_ways_over(const Way (&ways)[count], int argc, char** argv) {
  library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) return std::printf("%s\n", dlerror()), 3;
  must("cudaRuntimeGetVersion", &version);
  run_ways(ways, argv + 2, argv + argc);
  return 0;
}
