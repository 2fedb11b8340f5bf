// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "driver/types.h"

namespace simcuda {

class device;

/// A pool of stream-ordered memory. Used is the sum of its live blocks, reserved what it holds from the device, in
/// steps of 2 MiB. Freed memory stays reserved until a synchronization trims it to the release threshold (0 at first).
struct memory_pool {
  memory_pool(device& owner, std::size_t max_bytes, bool is_charged = true)
      : owner(owner), max_bytes(max_bytes), is_charged(is_charged) {}

  /// false: the device, or the pool's own maximum, has no room.
  bool grow_used(std::size_t bytes);
  void shrink_used(std::size_t bytes) noexcept { used -= bytes; }
  /// Gives back what is reserved beyond what is used and beyond `keep`.
  void trim(std::size_t keep) noexcept;

  static constexpr std::size_t step = std::size_t{2} << 20;

  device& owner;
  std::size_t max_bytes;  // 0: none
  bool is_charged;        // false: its memory is the host's or managed
  bool is_imported = false;
  int handle_types = 0;
  std::size_t used = 0;
  std::size_t used_high = 0;
  std::size_t reserved = 0;
  std::size_t reserved_high = 0;
  std::uint64_t release_threshold = 0;
  int reuse_flags[3] = {1, 1, 1};
  std::map<int, int> peer_access;  // by device
  bool destroyed = false;          // waits for its last block
};

}  // namespace simcuda
