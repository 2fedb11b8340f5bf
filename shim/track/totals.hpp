// Bytes live now and at most, per device and kind: exact always, also when the journal is not complete.
//
// Thread-safe and lock-free. Devices beyond the last slot share it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "track/memory_kind.hpp"

namespace gpumem {

class Totals {
 public:
  static constexpr int max_devices = 64;

  // Bytes live just after; saturates at 0.
  std::uint64_t add(int device, MemoryKind kind, std::uint64_t bytes) {
    Total& total = at(device, kind);
    const std::uint64_t now = total.live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::uint64_t peak = total.peak.load(std::memory_order_relaxed);
    while (peak < now && !total.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
    return now;
  }

  std::uint64_t subtract(int device, MemoryKind kind, std::uint64_t bytes) {
    Total& total = at(device, kind);
    std::uint64_t before = total.live.load(std::memory_order_relaxed);
    std::uint64_t now;
    do {
      now = before > bytes ? before - bytes : 0;
    } while (!total.live.compare_exchange_weak(before, now, std::memory_order_relaxed));
    return now;
  }

  std::uint64_t live(int device, MemoryKind kind) { return at(device, kind).live.load(std::memory_order_relaxed); }
  std::uint64_t peak(int device, MemoryKind kind) { return at(device, kind).peak.load(std::memory_order_relaxed); }

 private:
  struct Total {
    std::atomic<std::uint64_t> live{0}, peak{0};
  };

  Total& at(int device, MemoryKind kind) {
    const int slot = device < 0 ? 0 : device + 1 < max_devices ? device + 1 : max_devices - 1;
    return totals_[static_cast<std::size_t>(slot) * memory_kind_count + static_cast<std::size_t>(kind)];
  }

  std::array<Total, max_devices * memory_kind_count> totals_;
};

}  // namespace gpumem
