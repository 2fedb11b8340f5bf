// Bytes and blocks that belong together, and the totals that they are counted in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/records.hpp"

namespace gpumem {

// Signed: lines of several threads may stand in another order than they happened, so a sum may dip below zero.
struct Usage {
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;

  Usage& operator+=(const Usage& other) {
    blocks += other.blocks;
    bytes += other.bytes;
    return *this;
  }
  Usage operator-() const { return {-blocks, -bytes}; }
  bool operator==(const Usage&) const = default;
};

// One total: kinds and devices are never mixed.
struct TotalKey {
  std::optional<DeviceOrdinal> device;  // none: memory that belongs to no device
  std::string kind;
  auto operator<=>(const TotalKey&) const = default;
};

// The order of reports: devices by number, then memory that belongs to none.
inline bool shown_before(const TotalKey& a, const TotalKey& b) {
  if (a.device.has_value() != b.device.has_value()) return a.device.has_value();
  return a < b;
}

// A call site is a stack that allocated memory of one kind on one device.
struct SiteKey {
  TotalKey total;
  std::uint64_t stack = 0;
  auto operator<=>(const SiteKey&) const = default;
};

}  // namespace gpumem
