// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "driver/script.h"
#include "driver/shared_file.h"
#include "driver/types.h"

namespace simcuda {

/// Addresses of one device, backed by a memory file whose pages the kernel provides at first touch and which another
/// process can map. Not thread-safe.
///
/// The space is several times the device's capacity, so that fragmentation never makes an allocation fail that the
/// accounting admits. Unless the script wants otherwise the smallest hole that fits is taken, the lowest of several: a
/// freed address is handed out again to the next request of the same size.
class address_space {
 public:
  address_space(std::size_t bytes, address_reuse reuse);
  ~address_space();
  address_space(const address_space&) = delete;
  address_space& operator=(const address_space&) = delete;

  /// 0 when no hole is large enough. bytes is a multiple of `granule`.
  device_ptr take(std::size_t bytes);

  /// Gives back what take() handed out. The contents are gone, as after a real free.
  void give_back(device_ptr address, std::size_t bytes);

  /// Where an address is in the device's file; false: the system refused a file, and private memory took its place.
  bool locate(device_ptr address, int& descriptor, std::size_t& offset) const;

  static constexpr std::size_t granule = 512;

 private:
  /// A part of a hole is handed out.
  void carve(std::map<device_ptr, std::size_t>::iterator hole, device_ptr address, std::size_t bytes);
  device_ptr take_freed_last(std::size_t bytes);
  void add_hole(device_ptr start, std::size_t bytes);
  void remove_hole(std::map<device_ptr, std::size_t>::iterator hole);

  shared_file file_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  address_reuse reuse_;
  std::vector<device_ptr> freed_;  // the latest last
  std::map<device_ptr, std::size_t> holes_;
  std::set<std::pair<std::size_t, device_ptr>> holes_by_size_;
};

/// Memory of its own mapping (managed, pinned host): zeroed, page aligned. nullptr when the host has none left.
void* map_host_memory(std::size_t bytes) noexcept;
/// Addresses without memory behind them; nullptr when the process may not have so many.
void* reserve_addresses(std::size_t bytes) noexcept;
void unmap_host_memory(void* address, std::size_t bytes) noexcept;

}  // namespace simcuda
