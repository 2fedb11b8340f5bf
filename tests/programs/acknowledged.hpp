// What a thread of the program `killed` has done: each count is raised after the call has returned.
#pragma once

#include <atomic>
#include <cstdint>

struct AcknowledgedWork {
  std::atomic<std::uint64_t> thread;
  std::atomic<std::uint64_t> allocations;
  std::atomic<std::uint64_t> frees;
};

inline constexpr int acknowledging_threads = 3;
