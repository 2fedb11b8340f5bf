// How often a process says what it knows at a failure: states of one kind of failure once a second, and all probes
// together about 1 % of the time.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/monotonic_clock.hpp"
#include "base/spin_lock.hpp"

namespace gpumem {

class PictureLimits {
 public:
  // Whether a state is due for a failure of this function, code and device; it counts as written then.
  bool state_due(unsigned api, int code, int device, std::uint64_t now_ns) {
    LockGuard guard(lock_);
    Failure* oldest = failures_;
    for (Failure& known : failures_) {
      if (known.told_ns != 0 && known.api == api && known.code == code && known.device == device) {
        if (now_ns < known.told_ns + state_interval_ns) return false;
        oldest = &known;
        break;
      }
      if (known.told_ns < oldest->told_ns) oldest = &known;
    }
    *oldest = {now_ns, api, code, device};
    return true;
  }

  // Whether a probe may begin that ends after `longest_ns` at the latest. Then none else may until it has ended, or,
  // where it was left by a jump, until it would have paid for its longest duration.
  bool begin_probe(std::uint64_t now_ns, std::uint64_t longest_ns) {
    std::uint64_t allowed = probe_allowed_ns_.load(std::memory_order_relaxed);
    return now_ns >= allowed &&
           probe_allowed_ns_.compare_exchange_strong(allowed, next_probe_ns(now_ns + longest_ns, longest_ns));
  }
  void end_probe(std::uint64_t began_ns, std::uint64_t now_ns) {
    probe_allowed_ns_.store(next_probe_ns(now_ns, now_ns - began_ns), std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t state_interval_ns = 1000 * ns_per_millisecond;
  static std::uint64_t next_probe_ns(std::uint64_t end_ns, std::uint64_t took_ns) { return end_ns + 99 * took_ns; }

  struct Failure {
    std::uint64_t told_ns;  // 0: none yet
    unsigned api;
    int code, device;
  };
  Failure failures_[16]{};
  SpinLock lock_;
  std::atomic<std::uint64_t> probe_allowed_ns_{0};
};

}  // namespace gpumem
