// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "driver/blocks.h"
#include "driver/handles.h"
#include "driver/shared_file.h"
#include "driver/types.h"

namespace simcuda {

/// Physical memory of cuMemCreate. It goes when neither a handle nor a mapping refers to it.
struct physical_memory {
  allocation_properties properties{};
  std::size_t bytes = 0;
  device* charged = nullptr;  // nullptr: the host's, or imported from another process, which has paid for it
  shared_file file;
  int references = 1;
  int mappings = 0;
};

/// Reservations of addresses, physical memory, and which is mapped where. Belongs to no context. Guarded by
/// machine::mutex.
class virtual_memory {
 public:
  explicit virtual_memory(block_table& blocks) : blocks_(blocks) {}

  static constexpr std::size_t granularity = std::size_t{2} << 20;

  /// wanted is only a wish.
  status reserve(std::size_t bytes, std::size_t alignment, device_ptr wanted, device_ptr& out);
  /// The whole reservation, without a mapping in it.
  status free(device_ptr address, std::size_t bytes);

  status create(std::size_t bytes, const allocation_properties& wanted, device* owner, physical_memory*& out);
  /// The memory behind a descriptor that this or another process exported.
  status import(int descriptor, physical_memory*& out);
  /// nullptr: no handle refers to such memory.
  physical_memory* find(memory_handle handle) const;
  void release(physical_memory& memory);

  status map(device_ptr address, std::size_t bytes, std::size_t offset, physical_memory& memory, device& owner);
  /// The range consists of whole mappings.
  status unmap(device_ptr address, std::size_t bytes);
  status set_access(device_ptr address, std::size_t bytes, memory_location who, int flags);
  status access(device_ptr address, memory_location who, int& flags) const;
  /// What is mapped at the address, or nullptr.
  physical_memory* mapped_at(device_ptr address) const;

 private:
  struct mapping {
    std::size_t bytes;
    physical_memory* of;
    std::map<int, int> access;  // by device; the host is -1
  };
  using mappings = std::map<device_ptr, mapping>;

  bool in_one_reservation(device_ptr address, std::size_t bytes) const;
  /// The mappings of a range that consists of whole ones without a gap; empty otherwise.
  std::pair<mappings::iterator, mappings::iterator> whole_mappings(device_ptr address, std::size_t bytes);
  mappings::const_iterator mapping_at(device_ptr address) const;
  void destroy_if_unused(physical_memory& memory);

  block_table& blocks_;
  std::map<device_ptr, std::size_t> reservations_;
  mappings mappings_;
  handle_table<physical_memory> memory_;
};

}  // namespace simcuda
