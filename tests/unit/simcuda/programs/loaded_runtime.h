// SPDX-License-Identifier: Apache-2.0
// A runtime that is loaded by the name of its version, and calls of its functions by theirs.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <string>

inline int failures = 0;
inline void* runtime = nullptr;

#define EXPECT(condition)                                         \
  do {                                                            \
    if (!(condition)) {                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                 \
    }                                                             \
  } while (0)

inline std::string runtime_name(const std::string& major) { return "libcudart.so." + (major == "11" ? "11.0" : major); }

/// -1: there is no such function.
template <class... Arguments>
int call(const char* name, Arguments... arguments) {
  const auto entry = reinterpret_cast<int (*)(Arguments...)>(dlsym(runtime, name));
  return entry ? entry(arguments...) : -1;
}
