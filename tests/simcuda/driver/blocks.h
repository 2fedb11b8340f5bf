// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "driver/types.h"

namespace simcuda {

class device;
struct graph_allocation;

enum class block_kind {
  linear,          // cuMemAlloc, cuMemAllocPitch
  managed,         // cuMemAllocManaged: lives on the host until touched, so it uses none of the device's capacity here
  stream_ordered,  // cuMemAllocAsync: belongs to a pool, not to a context
  pinned,          // cuMemHostAlloc, cuMemAllocHost
  registered,      // cuMemHostRegister: the program's own memory
  global,          // a variable of loaded code
  array,           // cuArrayCreate: has no address for programs
  graph,           // an allocation node's, from a launch until it is freed; the address stays the node's
  imported,        // cuIpcOpenMemHandle, a mapped graphics resource: somebody else has paid for it
  external,        // the same where cuMemFree ends it: external memory, a pointer of an imported pool
  mapped,          // cuMemMap: belongs to its reservation; flags say what access the devices have
};

struct block {
  device_ptr address = 0;
  std::size_t bytes = 0;  // as requested
  block_kind kind = block_kind::linear;
  device* owner = nullptr;
  context* made_in = nullptr;
  memory_pool* pool = nullptr;  // of stream-ordered memory
  unsigned flags = 0;
  std::uint64_t id = 0;
  std::shared_ptr<graph_allocation> memory = nullptr;  // of a graph's block

  /// cuMemFreeAsync ends it.
  bool is_ordered() const {
    return kind == block_kind::stream_ordered || kind == block_kind::graph || (kind == block_kind::external && pool);
  }
  /// cuMemFree ends it.
  bool is_freeable() const {
    return kind == block_kind::linear || kind == block_kind::managed || kind == block_kind::external || is_ordered();
  }
  bool on_host() const { return kind == block_kind::pinned || kind == block_kind::registered; }
};

/// Every live block of the process: allocates, finds, frees, and keeps the devices' and pools' accounts.
/// Guarded by machine::mutex.
class block_table {
 public:
  /// wanted names everything but address and id. `made` is valid until freed, and only on success.
  status allocate(block wanted, const block*& made);
  /// Notes memory of the program's own, at wanted.address.
  const block& add_registered(block wanted);
  void free(const block& gone);
  /// The mapping at the address gets another access, or is gone; its memory is virtual_memory's.
  void set_access(device_ptr address, unsigned flags) { blocks_.at(address).flags = flags; }
  void forget(device_ptr address) { blocks_.erase(address); }
  /// What the end of a context takes along: everything that was made in it, but not stream-ordered memory.
  void free_context(const context* gone);

  /// The block that begins at the address, or nullptr.
  const block* starting_at(device_ptr address) const;
  /// The block that contains the address, or nullptr.
  const block* containing(device_ptr address) const;
  /// The whole range is inside one block, or inside mappings without a gap that a device may access.
  bool covers(device_ptr address, std::size_t bytes) const;
  bool overlaps(device_ptr address, std::size_t bytes) const;

 private:
  const block& insert(block made);

  std::map<device_ptr, block> blocks_;
  std::uint64_t next_id_ = 1;
  std::size_t pinned_ = 0;  // bytes
};

}  // namespace simcuda
