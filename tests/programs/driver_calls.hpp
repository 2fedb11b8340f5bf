// What programs share that call the driver by exact symbols. What fails although it should not ends the program with
// its name.
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "ways.hpp"

inline void* const driver = dlopen("libcuda.so.1", RTLD_NOW);

inline void must(const char* name, CUresult code) {
  if (code == CUDA_SUCCESS) return;
  std::printf("%s: %d\n", name, static_cast<int>(code));
  std::exit(3);
}

#define CU(name) reinterpret_cast<decltype(&::name)>(dlsym(driver, #name))
#define MUST(name, ...) must(#name, CU(name)(__VA_ARGS__))
#define MUST_FAIL(name, ...) \
  if (CU(name)(__VA_ARGS__) == CUDA_SUCCESS) std::printf(#name " should fail\n"), std::exit(3)

constexpr std::size_t page = 2u << 20;

inline CUcontext new_context(int device = 0) {
  CUcontext context = nullptr;
  MUST(cuCtxCreate_v2, &context, 0, device);
  return context;
}

// PROGRAM WAY…
template <std::size_t count>
int run_ways_in_context(const Way (&ways)[count], int argc, char** argv) {
  if (!driver) return std::printf("%s\n", dlerror()), 3;
  MUST(cuInit, 0);
  new_context();
  run_ways(ways, argv + 1, argv + argc);
  return 0;
}
