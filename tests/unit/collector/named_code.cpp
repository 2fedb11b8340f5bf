// Code with known names and lines, whose own return addresses the tests resolve.
#include <cstdint>

namespace outer {
namespace {
volatile int sink = 0;
}

__attribute__((noinline)) std::uintptr_t innermost() {
  sink = sink + 1;
  return reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
}

inline __attribute__((always_inline)) std::uintptr_t inlined_helper(int value) {
  const std::uintptr_t address = innermost();  // line 15
  sink = sink + value;
  return address;
}

__attribute__((noinline)) std::uintptr_t caller(int value) {
  const std::uintptr_t address = inlined_helper(value);  // line 21
  sink = sink + 1;
  return address;
}
}  // namespace outer

extern "C" std::uintptr_t named_code_return_address() {
  const std::uintptr_t address = outer::caller(3);
  outer::sink = outer::sink + 1;
  return address;
}
