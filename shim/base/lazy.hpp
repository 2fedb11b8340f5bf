// A value made on first use, by whichever thread comes first.
//
// Usable before any constructor of this library has run, and never destroyed: hooks outlive destructors.
// `make` runs under a lock: it must not call CUDA, the loader, or anything that could come back here.
#pragma once

#include <atomic>
#include <new>

#include "base/spin_lock.hpp"

namespace gpumem {

template <class T>
class Lazy {
 public:
  template <class Make>
  const T& get(Make make) {
    if (!ready_.load(std::memory_order_acquire)) {
      LockGuard guard(lock_);
      if (!ready_.load(std::memory_order_relaxed)) {
        new (storage_) T(make());
        ready_.store(true, std::memory_order_release);
      }
    }
    return *std::launder(reinterpret_cast<const T*>(storage_));
  }

 private:
  std::atomic<bool> ready_{false};
  SpinLock lock_;
  alignas(T) unsigned char storage_[sizeof(T)]{};
};

}  // namespace gpumem
