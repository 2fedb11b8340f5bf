// How far the newest checkpoint has come.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/spin_lock.hpp"

namespace gpumem {

struct CheckpointState {
  std::atomic<bool> open{false};         // one has begun and is not complete
  std::atomic<std::uint64_t> due_ns{0};  // when the next one is, under GPUMEM_EVENTS=0; monotonic

  SpinLock lock;  // of who writes a piece of it, and what follows
  std::uint32_t number = 0;
  std::uint32_t segment = 0;
  bool lists_blocks = false;
  std::uint32_t next_site = 0;
  std::size_t next_part = 0;  // of the live table
  std::uint64_t sites = 0, blocks = 0;
};

}  // namespace gpumem
