// A lock for a few instructions of table work.
//
// Never held across a real CUDA call, an unwind, a system call that can block, or a walk of the loader's list.
// Safe across fork: a lock that another thread held when the process forked counts as free in the child, because it
// carries the number of the process that took it. What it protected may be half changed then; its owner must cope
// (publish atomically, or start anew in the child).
#pragma once

#include <atomic>
#include <cstdint>

#include <time.h>

#include "base/process_epoch.hpp"

namespace gpumem {

class SpinLock {
 public:
  void lock() {
    const std::uint32_t mine = process_epoch();
    for (unsigned spins = 0;; ++spins) {
      std::uint32_t seen = holder_.load(std::memory_order_relaxed);
      if (seen != mine && holder_.compare_exchange_weak(seen, mine, std::memory_order_acquire)) return;
      if (spins >= 64) rest();
    }
  }
  bool try_lock() {
    const std::uint32_t mine = process_epoch();
    std::uint32_t seen = holder_.load(std::memory_order_relaxed);
    return seen != mine && holder_.compare_exchange_strong(seen, mine, std::memory_order_acquire);
  }
  void unlock() { holder_.store(0, std::memory_order_release); }

  // Sleeps, because a thread of real-time priority that only yields never lets the holder run.
  static void rest() {
    const timespec moment{0, 50'000};
    nanosleep(&moment, nullptr);
  }

 private:
  std::atomic<std::uint32_t> holder_{0};
};

class LockGuard {
 public:
  explicit LockGuard(SpinLock& lock) : lock_(lock) { lock_.lock(); }
  ~LockGuard() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace gpumem
