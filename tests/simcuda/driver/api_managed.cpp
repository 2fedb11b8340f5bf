// SPDX-License-Identifier: Apache-2.0
// Hints about managed memory, which are accepted and change nothing, and descriptors of memory.
#include <fcntl.h>

#include <cstring>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

status check_managed(machine& sim, device_ptr address, std::size_t bytes) {
  const block* found = bytes ? sim.blocks.containing(address) : nullptr;
  const bool fits = found && found->kind == block_kind::managed && bytes <= found->address + found->bytes - address;
  return fits ? status::success : status::invalid_value;
}

status check_hint(device_ptr address, std::size_t bytes, device_ordinal where) {
  constexpr device_ordinal host = -1;
  const locked_machine sim;
  if (where != host && !sim->find_device(where)) return status::invalid_device;
  return check_managed(*sim, address, bytes);
}

status check_all(const device_ptr* addresses, const std::size_t* sizes, std::size_t count, const stream* queue) {
  if (!addresses || !sizes || !count) return status::invalid_value;
  const locked_machine sim;
  if (!sim->usable(queue)) return status::invalid_handle;
  status result = status::success;
  for (std::size_t index = 0; index < count && result == status::success; ++index) {
    result = check_managed(*sim, addresses[index], sizes[index]);
  }
  return result;
}

device_ordinal ordinal_of(memory_location where) { return where.type == location_device ? where.id : -1; }

}  // namespace

status cuMemPrefetchAsync(device_ptr address, std::size_t bytes, device_ordinal where, stream*) {
  return check_hint(address, bytes, where);
}

status cuMemPrefetchAsync_v2(device_ptr address, std::size_t bytes, memory_location where, unsigned flags, stream*) {
  return flags ? status::invalid_value : check_hint(address, bytes, ordinal_of(where));
}

status cuMemAdvise(device_ptr address, std::size_t bytes, int, device_ordinal where) {
  return check_hint(address, bytes, where);
}

status cuMemAdvise_v2(device_ptr address, std::size_t bytes, int, memory_location where) {
  return check_hint(address, bytes, ordinal_of(where));
}

status cuMemPrefetchBatchAsync(device_ptr* addresses, std::size_t* sizes, std::size_t count, memory_location*,
                               std::size_t*, std::size_t, unsigned long long, stream* queue) {
  return check_all(addresses, sizes, count, queue);
}

status cuMemDiscardBatchAsync(device_ptr* addresses, std::size_t* sizes, std::size_t count, unsigned long long,
                              stream* queue) {
  return check_all(addresses, sizes, count, queue);
}

status cuStreamAttachMemAsync(stream* queue, device_ptr address, std::size_t, unsigned) {
  const locked_machine sim;
  if (!sim->usable(queue)) return status::invalid_handle;
  const block* found = sim->blocks.starting_at(address);
  return found && found->kind == block_kind::managed ? status::success : status::invalid_value;
}

status cuMemGetHandleForAddressRange(void* out, device_ptr address, std::size_t bytes, int type, unsigned long long) {
  constexpr int dma_buffer = 1;
  constexpr std::size_t page = 4096;
  if (!out || type != dma_buffer || !bytes || address % page || bytes % page) return status::invalid_value;
  const locked_machine sim;
  if (!sim->blocks.covers(address, bytes)) return status::invalid_value;
  const block& found = *sim->blocks.containing(address);
  std::size_t offset = 0;
  int known = -1;
  if (const physical_memory* memory = sim->ranges.mapped_at(address))
    known = memory->file.descriptor();
  else if (found.kind != block_kind::linear || !found.owner->addresses().locate(address, known, offset))
    return status::not_supported;
  const int descriptor = fcntl(known, F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) return status::operating_system;
  std::memcpy(out, &descriptor, sizeof descriptor);
  return status::success;
}

}  // namespace simcuda::api
