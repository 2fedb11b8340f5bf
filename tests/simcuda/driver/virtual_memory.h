// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "driver/blocks.h"
#include "driver/handles.h"
#include "driver/shared_file.h"
#include "driver/types.h"

namespace simcuda {

class virtual_memory;
struct physical_memory;
struct multicast_team;

/// Keeps physical memory alive, as a mapping does.
class memory_hold {
 public:
  memory_hold(virtual_memory& in, physical_memory& of);
  memory_hold(memory_hold&& other) noexcept : in_(other.in_), of_(std::exchange(other.of_, nullptr)) {}
  memory_hold& operator=(memory_hold&& other) noexcept {
    std::swap(in_, other.in_);
    std::swap(of_, other.of_);
    return *this;
  }
  ~memory_hold();

 private:
  virtual_memory* in_;
  physical_memory* of_;
};

/// The devices of a multicast object, and the memory that is bound to it. The object has no memory of its own.
struct multicast_team {
  struct binding {
    std::size_t offset, bytes;
    device_ordinal on;
    memory_hold memory;
  };
  unsigned size;
  std::set<device_ordinal> devices = {};
  std::vector<binding> bound = {};
};

/// Physical memory of cuMemCreate. It goes when neither a handle nor a mapping refers to it.
struct physical_memory {
  allocation_properties properties{};
  std::size_t bytes = 0;
  device* charged = nullptr;  // nullptr: the host's, or imported from another process, which has paid for it
  shared_file file;
  int references = 1;
  int mappings = 0;  // and whatever else holds it
  std::unique_ptr<multicast_team> team = nullptr;
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
  /// A handle that is mapped like memory; what is bound to it is not copied to.
  status create_multicast(unsigned team, std::size_t bytes, const allocation_properties& wanted, physical_memory*& out);
  /// The memory behind a descriptor that this or another process exported.
  status import(int descriptor, physical_memory*& out);
  /// nullptr: no handle refers to such memory.
  physical_memory* find(memory_handle handle) const;
  void release(physical_memory& memory);
  void hold(physical_memory& memory) { ++memory.mappings; }
  void drop(physical_memory& memory);

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
  status add(std::size_t bytes, const allocation_properties& wanted, unsigned team, physical_memory*& out);
  void destroy_if_unused(physical_memory& memory);

  block_table& blocks_;
  std::map<device_ptr, std::size_t> reservations_;
  mappings mappings_;
  handle_table<physical_memory> memory_;
};

}  // namespace simcuda
