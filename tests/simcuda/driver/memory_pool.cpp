// SPDX-License-Identifier: Apache-2.0
#include "driver/memory_pool.h"

#include <algorithm>

#include "driver/device.h"

namespace simcuda {
namespace {

std::size_t whole_steps(std::size_t bytes) {
  return (bytes + memory_pool::step - 1) / memory_pool::step * memory_pool::step;
}

}  // namespace

bool memory_pool::grow_used(std::size_t bytes) {
  if (max_bytes && used + bytes > max_bytes) return false;
  const std::size_t needed = whole_steps(used + bytes);
  if (needed > reserved) {
    // Reclaiming may shrink this pool's own reserve, so it comes before the difference is taken.
    if (is_charged && needed - reserved > owner.free_bytes()) owner.reclaim_pools();
    if (is_charged && !owner.charge(needed - reserved)) return false;
    reserved = needed;
  }
  used += bytes;
  used_high = std::max(used_high, used);
  reserved_high = std::max(reserved_high, reserved);
  return true;
}

void memory_pool::trim(std::size_t keep) noexcept {
  const std::size_t wanted = std::max(whole_steps(used), std::min(keep, reserved));
  if (wanted >= reserved) return;
  if (is_charged) owner.refund(reserved - wanted);
  reserved = wanted;
}

}  // namespace simcuda
