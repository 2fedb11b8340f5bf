// Throws and catches, for a program that is no C++ itself: such a one gets its unwinder where the loader finds it
// first.
#include <stdexcept>

#include "measuring.hpp"

namespace {

__attribute__((noinline)) void throw_at(int depth) {
  volatile int left = depth;
  if (left == 0) throw std::runtime_error("measured");
  throw_at(depth - 1);
  left = 0;
}

}  // namespace

// Nanoseconds of one throw and catch: the least of many bursts.
extern "C" double throw_and_catch_ns() {
  bench::Sample sample;
  for (int round = 0; round < 41; ++round)
    sample.values.push_back(bench::burst(64, [](int) {
      try {
        throw_at(4);
      } catch (const std::exception&) {
      }
    }));
  return sample.at(0);
}
