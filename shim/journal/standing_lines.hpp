// Lines that every segment repeats at its beginning.
//
// Thread-safe. Bounded: what does not fit is in the segment only that it was written to.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/spin_lock.hpp"

namespace gpumem {

class StandingLines {
 public:
  static constexpr std::size_t capacity = 64 * 1024;

  // To be called before the line is written, so that it is in whatever segment begins meanwhile.
  void add(std::string_view line) {
    LockGuard guard(lock_);
    if (line.size() > capacity - size_) return;
    std::memcpy(text_ + size_, line.data(), line.size());
    size_ += line.size();
  }

  // Calls put(std::string_view) with all of them, under the lock.
  template <class Put>
  void give(Put&& put) {
    LockGuard guard(lock_);
    put(std::string_view(text_, size_));
  }

 private:
  SpinLock lock_;
  std::size_t size_ = 0;
  char text_[capacity];
};

}  // namespace gpumem
