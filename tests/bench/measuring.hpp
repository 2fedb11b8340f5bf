// What the measuring programs share: the thread's own time, and medians of interleaved bursts.
//
// The machines are shared and noisy. So every method gets many short bursts, one after the other in turn, counted in
// the thread's own time; compared are their medians within one run, as ratios.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <time.h>
#include <unwind.h>

namespace bench {

inline double thread_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Nanoseconds per repetition of one burst.
template <class Repeated>
double burst(int repetitions, const Repeated& repeated) {
  const double begin = thread_ns();
  for (int i = 0; i < repetitions; ++i) repeated(i);
  return (thread_ns() - begin) / repetitions;
}

struct Sample {
  std::vector<double> values;

  double at(double part) const {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
  }
  double median() const { return at(0.5); }
};

// U: the bare unwinder collecting the addresses of the calling thread's stack.
__attribute__((noinline)) inline unsigned bare_unwind() {
  struct Addresses {
    std::array<std::uintptr_t, 512> at;
    unsigned count = 0;
  } addresses;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* data) {
        auto& all = *static_cast<Addresses*>(data);
        if (all.count < all.at.size()) all.at[all.count++] = _Unwind_GetIP(context);
        return _URC_NO_REASON;
      },
      &addresses);
  return addresses.count;
}

// C: one reading of the clock.
inline double clock_reading_ns() {
  timespec now{};
  return burst(2000, [&](int) { clock_gettime(CLOCK_MONOTONIC, &now); });
}

// Functions that are not the same one, so that a stack of them is as a program's: every eighth needs its frame pointer.
template <int N, class Leaf>
__attribute__((noinline)) void below(int depth, const Leaf& leaf) {
  volatile char room[16 + N % 24 * 8];
  room[0] = static_cast<char>(depth);
  if constexpr (N % 8 == 7) {
    volatile char* more = static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(32 + depth)));
    more[0] = room[0];
  }
  if (depth <= 1) {
    leaf();
  } else if constexpr (N < 71) {
    below<N + 1>(depth - 1, leaf);
  } else {
    below<0>(depth - 1, leaf);
  }
  room[1] = room[0];
}

}  // namespace bench
