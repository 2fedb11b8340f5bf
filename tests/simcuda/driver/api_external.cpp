// SPDX-License-Identifier: Apache-2.0
// Memory of other APIs: no such API is there, so any handle is accepted.
#include <unistd.h>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

constexpr int opaque_descriptor = 1, first_type = 1, last_type = 9;

template <class Body>
status with_external(external_memory* handle, Body body) {
  const locked_machine sim;
  return sim->external_memories.contains(handle) ? body(*sim) : status::invalid_handle;
}

status map_part(machine& sim, const external_memory& of, std::size_t offset, std::size_t bytes, const block*& made) {
  if (!bytes || offset > of.bytes || bytes > of.bytes - offset) return status::invalid_value;
  context& current = current_context();
  return map_foreign(sim.blocks, of.file, offset,
                     {.bytes = bytes, .kind = block_kind::external, .owner = &current.owner, .made_in = &current},
                     made);
}

}  // namespace

status cuImportExternalMemory(external_memory** out, const external_memory_description* wanted) {
  if (!out || !wanted || !wanted->bytes || wanted->type < first_type || wanted->type > last_type) {
    return status::invalid_value;
  }
  shared_file file;
  if (wanted->type == opaque_descriptor) file = shared_file::duplicate(wanted->descriptor);
  if (!file.is_open() || file.bytes() < wanted->bytes) file = shared_file::create("simcuda-external", wanted->bytes);
  if (!file.is_open()) return status::out_of_memory;
  // The descriptor belongs to CUDA once it has been imported.
  if (wanted->type == opaque_descriptor) close(wanted->descriptor);
  const locked_machine sim;
  *out = sim->external_memories.create(&current_context(), wanted->bytes, std::move(file));
  return status::success;
}

status cuExternalMemoryGetMappedBuffer(device_ptr* out, external_memory* from,
                                       const external_buffer_description* wanted) {
  if (!out || !wanted || wanted->flags) return status::invalid_value;
  return with_external(from, [&](machine& sim) {
    const block* made = nullptr;
    const status result = map_part(sim, *from, wanted->offset, wanted->bytes, made);
    if (result == status::success) *out = made->address;
    return result;
  });
}

status cuExternalMemoryGetMappedMipmappedArray(mipmapped_array** out, external_memory* from,
                                               const external_array_description* wanted) {
  if (!out || !wanted || !wanted->levels || !element_bytes(wanted->about)) return status::invalid_value;
  if (wanted->levels > most_levels(wanted->about)) return status::invalid_value;
  return with_external(from, [&](machine& sim) {
    const block* made = nullptr;
    const std::size_t bytes = chain_bytes(wanted->about, wanted->levels);
    const status result = map_part(sim, *from, wanted->offset, bytes, made);
    if (result == status::success) *out = make_mipmapped(sim, wanted->about, wanted->levels, made->address);
    return result;
  });
}

status cuDestroyExternalMemory(external_memory* target) {
  return with_external(target, [&](machine& sim) {
    sim.external_memories.destroy(target);
    return status::success;
  });
}

}  // namespace simcuda::api
