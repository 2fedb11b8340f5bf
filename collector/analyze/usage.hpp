// Bytes and blocks that belong together, and the totals that they are counted in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/records.hpp"

namespace gpumem {

// Signed: lines of several threads may stand in another order than they happened, so a sum may dip below zero.
struct usage {
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;

  usage& operator+=(const usage& other) {
    blocks += other.blocks;
    bytes += other.bytes;
    return *this;
  }
  usage operator-() const { return {-blocks, -bytes}; }
  bool operator==(const usage&) const = default;
};

// One total: kinds and devices are never mixed.
struct total_key {
  std::optional<device_ordinal> device;  // none: memory that belongs to no device
  std::string kind;
  auto operator<=>(const total_key&) const = default;
};

// The order of reports: devices by number, then memory that belongs to none.
inline bool shown_before(const total_key& a, const total_key& b) {
  if (a.device.has_value() != b.device.has_value()) return a.device.has_value();
  return a < b;
}

// A call site is a stack that allocated memory of one kind on one device.
struct site_key {
  total_key total;
  std::uint64_t stack = 0;
  auto operator<=>(const site_key&) const = default;
};

}  // namespace gpumem
