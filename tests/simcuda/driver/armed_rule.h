// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>

#include "driver/script.h"

namespace simcuda {

/// A rule with its count of calls. Thread-safe.
class armed_rule {
 public:
  explicit armed_rule(rule wanted) : wanted_(std::move(wanted)) {}

  const rule& wanted() const noexcept { return wanted_; }
  /// Counts a call of the rule's function; true when the rule holds for this one.
  bool applies_now() noexcept {
    const std::uint64_t call = calls_.fetch_add(1, std::memory_order_relaxed) + 1;
    return call >= wanted_.nth && (wanted_.times == 0 || call - wanted_.nth < wanted_.times);
  }

 private:
  rule wanted_;
  std::atomic<std::uint64_t> calls_ = 0;
};

}  // namespace simcuda
