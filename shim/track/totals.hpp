// Bytes live now and at most, per device and kind, and of all memory of a device together: exact always, also when the
// journal is not complete.
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
    if (is_summed(kind)) sum_of(device).add(bytes);
    return at(device, kind).add(bytes);
  }

  std::uint64_t subtract(int device, MemoryKind kind, std::uint64_t bytes) {
    if (is_summed(kind)) sum_of(device).subtract(bytes);
    return at(device, kind).subtract(bytes);
  }

  std::uint64_t live(int device, MemoryKind kind) const {
    return at(device, kind).live.load(std::memory_order_relaxed);
  }
  std::uint64_t peak(int device, MemoryKind kind) const {
    return at(device, kind).peak.load(std::memory_order_relaxed);
  }

  // Of all kinds that count memory of the device; for no_device, of those that count memory of the host.
  std::uint64_t live(int device) const { return sum_of(device).live.load(std::memory_order_relaxed); }
  std::uint64_t peak(int device) const { return sum_of(device).peak.load(std::memory_order_relaxed); }

  static constexpr bool is_summed(MemoryKind kind) { return kind <= MemoryKind::physical || is_host_memory(kind); }

 private:
  struct Total {
    std::atomic<std::uint64_t> live{0}, peak{0};

    std::uint64_t add(std::uint64_t bytes) {
      const std::uint64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
      std::uint64_t highest = peak.load(std::memory_order_relaxed);
      while (highest < now && !peak.compare_exchange_weak(highest, now, std::memory_order_relaxed)) {
      }
      return now;
    }

    std::uint64_t subtract(std::uint64_t bytes) {
      std::uint64_t before = live.load(std::memory_order_relaxed);
      std::uint64_t now;
      do {
        now = before > bytes ? before - bytes : 0;
      } while (!live.compare_exchange_weak(before, now, std::memory_order_relaxed));
      return now;
    }
  };

  static constexpr std::size_t slot(int device) {
    return static_cast<std::size_t>(device < 0 ? 0 : device + 1 < max_devices ? device + 1 : max_devices - 1);
  }
  static constexpr std::size_t place(int device, MemoryKind kind) {
    return slot(device) * memory_kind_count + static_cast<std::size_t>(kind);
  }
  Total& at(int device, MemoryKind kind) { return totals_[place(device, kind)]; }
  const Total& at(int device, MemoryKind kind) const { return totals_[place(device, kind)]; }
  Total& sum_of(int device) { return sums_[slot(device)]; }
  const Total& sum_of(int device) const { return sums_[slot(device)]; }

  std::array<Total, max_devices * memory_kind_count> totals_;
  std::array<Total, max_devices> sums_;
};

}  // namespace gpumem
