// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

constexpr int pinned = 1, managed = 2;

status allocate_from(machine& sim, device_ptr* out, std::size_t bytes, memory_pool& pool, stream* queue) {
  if (!out || !bytes) return status::invalid_value;
  if (!sim.usable(queue)) return status::invalid_handle;
  if (stream_capture* capture = sim.capture_of(queue)) {
    if (capture->invalidated) return status::capture_invalidated;
    graph_node* node = nullptr;
    const status result = sim.graphs.add_allocation(*capture->into, pool.owner, bytes, node);
    if (result != status::success) return result;
    capture->last[queue] = node;
    *out = node->memory->address;
    return status::success;
  }
  const block* made = nullptr;
  const status result = sim.blocks.allocate(
      {.bytes = bytes, .kind = block_kind::stream_ordered, .owner = &pool.owner, .pool = &pool}, made);
  if (result == status::success) *out = made->address;
  return result;
}

/// Stores a device's pool, chosen by the body.
template <class Choose>
status give_pool(memory_pool** out, device_ordinal ordinal, Choose choose) {
  if (!out) return status::invalid_value;
  const locked_machine sim;
  device* owner = sim->find_device(ordinal);
  if (!owner) return status::invalid_device;
  *out = choose(*owner);
  return status::success;
}

memory_pool* default_pool_of(device& owner) { return owner.default_pool(); }
memory_pool* current_pool_of(device& owner) { return owner.current_pool(); }

/// Whose pools are the device's own; those of all other memory are the machine's.
bool is_plain(memory_location where, int type) { return where.type == location_device && type == pinned; }

status check_location(machine& sim, const memory_location* where, int type) {
  if (!where || (type != pinned && type != managed)) return status::invalid_value;
  if (where->type == location_device) return sim.find_device(where->id) ? status::success : status::invalid_device;
  return where->type >= location_host && where->type <= location_host_numa_current ? status::success
                                                                                   : status::invalid_value;
}

/// Stores the pool of a location, chosen by the body that fits.
template <class OfDevice, class OfMachine>
status give_pool_of(memory_pool** out, const memory_location* where, int type, OfDevice of_device,
                    OfMachine of_machine) {
  if (!out) return status::invalid_value;
  const locked_machine sim;
  const status result = check_location(*sim, where, type);
  if (result == status::success)
    *out = is_plain(*where, type) ? of_device(*sim->find_device(where->id)) : of_machine(*sim);
  return result;
}

status set_device_pool(machine& sim, device_ordinal ordinal, memory_pool* pool) {
  device* owner = sim.find_device(ordinal);
  if (!owner) return status::invalid_device;
  if (!sim.is_pool(pool) || &pool->owner != owner || !pool->is_charged) return status::invalid_value;
  owner->set_current_pool(pool);
  return status::success;
}

enum pool_attribute {
  reuse_first = 1,
  reuse_last = 3,
  release_threshold = 4,
  reserved_now = 5,
  reserved_high = 6,
  used_now = 7,
  used_high = 8
};

}  // namespace

status cuMemAllocAsync(device_ptr* out, std::size_t bytes, stream* queue) {
  const locked_machine sim;
  return allocate_from(*sim, out, bytes, *current_context().owner.current_pool(), queue);
}

status cuMemAllocFromPoolAsync(device_ptr* out, std::size_t bytes, memory_pool* pool, stream* queue) {
  const locked_machine sim;
  if (!sim->is_pool(pool) || pool->is_imported) return status::invalid_value;
  return allocate_from(*sim, out, bytes, *pool, queue);
}

status cuMemFreeAsync(device_ptr address, stream* queue) {
  if (!address) return status::success;
  const locked_machine sim;
  if (!sim->usable(queue)) return status::invalid_handle;
  if (stream_capture* capture = sim->capture_of(queue)) {
    if (capture->invalidated) return status::capture_invalidated;
    return sim->graphs.add_free(*capture->into, address, capture->last[queue]);
  }
  const block* found = sim->blocks.starting_at(address);
  if (!found || !found->is_ordered()) return status::invalid_value;
  sim->blocks.free(*found);
  return status::success;
}

status cuDeviceGetDefaultMemPool(memory_pool** pool, device_ordinal ordinal) {
  return give_pool(pool, ordinal, default_pool_of);
}

status cuDeviceGetMemPool(memory_pool** pool, device_ordinal ordinal) {
  return give_pool(pool, ordinal, current_pool_of);
}

status cuMemGetDefaultMemPool(memory_pool** pool, memory_location* where, int type) {
  return give_pool_of(pool, where, type, default_pool_of, [&](machine& sim) { return sim.default_pool(*where, type); });
}

status cuMemGetMemPool(memory_pool** pool, memory_location* where, int type) {
  return give_pool_of(pool, where, type, current_pool_of, [&](machine& sim) { return sim.current_pool(*where, type); });
}

status cuDeviceSetMemPool(device_ordinal ordinal, memory_pool* pool) {
  const locked_machine sim;
  return set_device_pool(*sim, ordinal, pool);
}

status cuMemSetMemPool(memory_location* where, int type, memory_pool* pool) {
  const locked_machine sim;
  const status result = check_location(*sim, where, type);
  if (result != status::success) return result;
  if (is_plain(*where, type)) return set_device_pool(*sim, where->id, pool);
  if (!sim->is_pool(pool) || pool->is_charged) return status::invalid_value;
  sim->current_pool(*where, type) = pool;
  return status::success;
}

status cuMemPoolSetAccess(memory_pool* pool, const access_description* accesses, std::size_t count) {
  constexpr int read_write = 3;
  const locked_machine sim;
  if (!sim->is_pool(pool) || !accesses || !count) return status::invalid_value;
  for (const access_description* next = accesses; next != accesses + count; ++next) {
    if (next->location.type != location_device || !sim->find_device(next->location.id)) return status::invalid_device;
    const bool is_owner = next->location.id == pool->owner.ordinal();
    if (next->flags & ~read_write || (is_owner && next->flags != read_write)) return status::invalid_value;
  }
  for (const access_description* next = accesses; next != accesses + count; ++next) {
    pool->peer_access[next->location.id] = next->flags;
  }
  return status::success;
}

status cuMemPoolGetAccess(int* flags, memory_pool* pool, memory_location* where) {
  constexpr int read_write = 3;
  const locked_machine sim;
  if (!flags || !where || !sim->is_pool(pool)) return status::invalid_value;
  if (where->type != location_device || !sim->find_device(where->id)) return status::invalid_device;
  const auto known = pool->peer_access.find(where->id);
  *flags = where->id == pool->owner.ordinal() ? read_write : known == pool->peer_access.end() ? 0 : known->second;
  return status::success;
}

status cuMemPoolCreate(memory_pool** out, const pool_properties* properties) {
  constexpr int posix_descriptor = 1;
  if (!out || !properties) return status::invalid_value;
  if (properties->handle_types & ~posix_descriptor) return status::not_supported;
  const memory_location where = properties->location;
  const locked_machine sim;
  const status result = check_location(*sim, &where, properties->allocation_type);
  if (result != status::success) return result;
  device& owner = where.type == location_device ? *sim->find_device(where.id) : *sim->devices.front();
  *out = sim->pools.create(owner, properties->max_size, is_plain(where, properties->allocation_type));
  (*out)->handle_types = properties->handle_types;
  owner.add_pool(*out);
  return status::success;
}

status cuMemPoolDestroy(memory_pool* pool) {
  const locked_machine sim;
  if (!sim->is_pool(pool) || !sim->pools.contains(pool)) return status::invalid_value;
  sim->retire(*pool);
  return status::success;
}

status cuMemPoolTrimTo(memory_pool* pool, std::size_t keep) {
  const locked_machine sim;
  if (!sim->is_pool(pool)) return status::invalid_value;
  pool->trim(keep);
  return status::success;
}

status cuMemPoolGetAttribute(memory_pool* pool, int attribute, void* value) {
  const locked_machine sim;
  if (!value || !sim->is_pool(pool)) return status::invalid_value;
  if (attribute >= reuse_first && attribute <= reuse_last) {
    std::memcpy(value, &pool->reuse_flags[attribute - reuse_first], sizeof(int));
    return status::success;
  }
  std::uint64_t answer = 0;
  switch (attribute) {
    case release_threshold: answer = pool->release_threshold; break;
    case reserved_now: answer = pool->reserved; break;
    case reserved_high: answer = pool->reserved_high; break;
    case used_now: answer = pool->used; break;
    case used_high: answer = pool->used_high; break;
    default: return status::invalid_value;
  }
  std::memcpy(value, &answer, sizeof answer);
  return status::success;
}

status cuMemPoolSetAttribute(memory_pool* pool, int attribute, void* value) {
  const locked_machine sim;
  if (!value || !sim->is_pool(pool)) return status::invalid_value;
  if (attribute >= reuse_first && attribute <= reuse_last) {
    std::memcpy(&pool->reuse_flags[attribute - reuse_first], value, sizeof(int));
    return status::success;
  }
  std::uint64_t wanted = 0;
  std::memcpy(&wanted, value, sizeof wanted);
  const bool is_high_mark = attribute == reserved_high || attribute == used_high;
  if (attribute == release_threshold)
    pool->release_threshold = wanted;
  else if (is_high_mark && wanted)
    return status::invalid_value;  // a high mark can only be reset
  else if (attribute == reserved_high)
    pool->reserved_high = pool->reserved;
  else if (attribute == used_high)
    pool->used_high = pool->used;
  else
    return status::invalid_value;
  return status::success;
}

}  // namespace simcuda::api
