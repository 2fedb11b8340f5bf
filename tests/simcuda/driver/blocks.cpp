// SPDX-License-Identifier: Apache-2.0
#include "driver/blocks.h"

#include <iterator>
#include <limits>

#include "driver/device.h"
#include "driver/machine.h"

namespace simcuda {
namespace {

std::size_t charged_bytes(const block& of) {
  return (of.bytes + address_space::granule - 1) / address_space::granule * address_space::granule;
}

bool has_own_mapping(block_kind kind) { return kind == block_kind::managed || kind == block_kind::pinned; }

}  // namespace

status block_table::allocate(block wanted, const block*& made) {
  if (wanted.bytes > std::numeric_limits<std::size_t>::max() / 2) return status::out_of_memory;
  const bool is_pinned = wanted.kind == block_kind::pinned;
  if (is_pinned && wanted.bytes > machine::instance().settings.pinned_limit - pinned_) return status::out_of_memory;
  if (has_own_mapping(wanted.kind)) {
    wanted.address = reinterpret_cast<device_ptr>(map_host_memory(wanted.bytes));
    if (!wanted.address) return status::out_of_memory;
  } else {
    device& owner = *wanted.owner;
    address_space& addresses = owner.addresses();
    const std::size_t bytes = charged_bytes(wanted);
    // A variable's size is not known here: loading its module has been charged already.
    const bool charged =
        wanted.kind == block_kind::global || (wanted.pool ? wanted.pool->grow_used(bytes) : owner.charge(bytes));
    if (!charged) return status::out_of_memory;
    wanted.address = addresses.take(bytes);
    if (!wanted.address) {
      if (wanted.pool)
        wanted.pool->shrink_used(bytes);
      else if (wanted.kind != block_kind::global)
        owner.refund(bytes);
      return status::out_of_memory;
    }
  }
  if (is_pinned) pinned_ += wanted.bytes;
  made = &insert(wanted);
  return status::success;
}

const block& block_table::add_registered(block wanted) { return insert(wanted); }

const block& block_table::insert(block made) {
  made.id = next_id_++;
  return blocks_.insert_or_assign(made.address, made).first->second;
}

void block_table::free(const block& gone) {
  const std::size_t bytes = charged_bytes(gone);
  if (gone.kind == block_kind::pinned) pinned_ -= gone.bytes;
  if (has_own_mapping(gone.kind)) {
    unmap_host_memory(reinterpret_cast<void*>(gone.address), gone.bytes);
  } else if (gone.kind == block_kind::imported || gone.kind == block_kind::external) {
    const device_ptr lead = gone.address % 4096;
    unmap_host_memory(reinterpret_cast<void*>(gone.address - lead), lead + gone.bytes);
  } else if (gone.kind == block_kind::graph) {
    gone.memory->attached = false;
    gone.pool->shrink_used(bytes);
  } else if (gone.kind != block_kind::registered) {
    gone.owner->addresses().give_back(gone.address, bytes);
    if (gone.pool)
      machine::instance().release_to_pool(*gone.pool, bytes);
    else if (gone.kind != block_kind::global)
      gone.owner->refund(bytes);
  }
  // Taken out first: the allocation of a graph may end with its block.
  const auto taken = blocks_.extract(gone.address);
}

void block_table::free_context(const context* gone) {
  for (auto next = blocks_.begin(); next != blocks_.end();) {
    const block& current = (next++)->second;
    if (current.made_in == gone && current.kind != block_kind::stream_ordered) free(current);
  }
}

const block* block_table::starting_at(device_ptr address) const {
  const auto found = blocks_.find(address);
  return found == blocks_.end() ? nullptr : &found->second;
}

const block* block_table::containing(device_ptr address) const {
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return nullptr;
  const block& candidate = std::prev(after)->second;
  return address - candidate.address < candidate.bytes ? &candidate : nullptr;
}

bool block_table::covers(device_ptr address, std::size_t bytes) const {
  for (const block* found = containing(address); found; found = containing(address)) {
    if (found->kind == block_kind::mapped && !found->flags) return false;
    const std::size_t rest = found->bytes - (address - found->address);
    if (bytes <= rest) return true;
    if (found->kind != block_kind::mapped) return false;
    address += rest;
    bytes -= rest;
    found = containing(address);
    if (!found || found->kind != block_kind::mapped) return false;
  }
  return false;
}

bool block_table::overlaps(device_ptr address, std::size_t bytes) const {
  if (containing(address)) return true;
  const auto next = blocks_.lower_bound(address);
  return next != blocks_.end() && next->first - address < bytes;
}

}  // namespace simcuda
