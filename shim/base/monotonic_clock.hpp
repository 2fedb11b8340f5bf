// The clock of the journal's times.
#pragma once

#include <cstdint>

#include <time.h>

namespace gpumem {

constexpr std::uint64_t ns_per_millisecond = 1'000'000;
constexpr std::uint64_t ns_per_second = 1'000'000'000;

inline std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * ns_per_second + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace gpumem
