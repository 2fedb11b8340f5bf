// SPDX-License-Identifier: Apache-2.0
// Resources of graphics APIs. Any number or pointer of theirs is accepted.
#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr array_description_3d image{256, 256, 0, 1, 4, 0};

status add_resource(graphics_resource** out, bool is_image, unsigned flags) {
  if (!out) return status::invalid_value;
  const locked_machine sim;
  *out = sim->graphics_resources.create(&current_context(), is_image, flags);
  return status::success;
}

template <class Body>
status with_resource(graphics_resource* handle, Body body) {
  const locked_machine sim;
  return sim->graphics_resources.contains(handle) ? body(*sim) : status::invalid_handle;
}

status map(machine& sim, graphics_resource& target) {
  const std::size_t bytes = target.is_image ? array_bytes(image) : buffer_bytes;
  const block* made = nullptr;
  const status result = map_foreign(
      sim.blocks, shared_file::create("simcuda-graphics", bytes), 0,
      {.bytes = bytes, .kind = block_kind::imported, .owner = &target.made_in->owner, .made_in = target.made_in}, made);
  if (result != status::success) return result;
  if (target.is_image)
    target.image = make_mipmapped(sim, image, 1, made->address);
  else
    target.memory = made->address;
  return status::success;
}

void unmap(machine& sim, graphics_resource& target) {
  if (target.image && sim.mipmapped_arrays.contains(target.image)) destroy_mipmapped(sim, target.image);
  give_back_array(sim, target.memory);
  target.image = nullptr;
  target.memory = 0;
}

/// All or none: handles are checked before anything changes.
template <class Change>
status change_all(unsigned count, graphics_resource** list, stream* queue, bool mapped, Change change) {
  if (!count || !list) return status::invalid_value;
  const locked_machine sim;
  if (!sim->usable(queue)) return status::invalid_handle;
  for (unsigned index = 0; index < count; ++index) {
    if (!sim->graphics_resources.contains(list[index])) return status::invalid_handle;
    if (list[index]->is_mapped() != mapped) return mapped ? status::not_mapped : status::already_mapped;
  }
  status result = status::success;
  for (unsigned index = 0; index < count && result == status::success; ++index) result = change(*sim, *list[index]);
  return result;
}

}  // namespace

status cuGraphicsGLRegisterBuffer(graphics_resource** out, unsigned, unsigned flags) {
  return add_resource(out, false, flags);
}

status cuGraphicsGLRegisterImage(graphics_resource** out, unsigned, unsigned, unsigned flags) {
  return add_resource(out, true, flags);
}

status cuGraphicsEGLRegisterImage(graphics_resource** out, void*, unsigned flags) {
  return add_resource(out, true, flags);
}

status cuGraphicsVDPAURegisterVideoSurface(graphics_resource** out, unsigned, unsigned flags) {
  return add_resource(out, true, flags);
}

status cuGraphicsUnregisterResource(graphics_resource* target) {
  return with_resource(target, [&](machine& sim) {
    unmap(sim, *target);
    sim.graphics_resources.destroy(target);
    return status::success;
  });
}

status cuGraphicsMapResources(unsigned count, graphics_resource** list, stream* queue) {
  return change_all(count, list, queue, false, map);
}

status cuGraphicsUnmapResources(unsigned count, graphics_resource** list, stream* queue) {
  return change_all(count, list, queue, true, [](machine& sim, graphics_resource& target) {
    unmap(sim, target);
    return status::success;
  });
}

status cuGraphicsResourceSetMapFlags(graphics_resource* target, unsigned flags) {
  return with_resource(target, [&](machine&) {
    if (target->is_mapped()) return status::already_mapped;
    target->flags = flags;
    return status::success;
  });
}

status cuGraphicsResourceGetMappedPointer_v2(device_ptr* out, std::size_t* bytes, graphics_resource* from) {
  return with_resource(from, [&](machine&) {
    if (!from->is_mapped()) return status::not_mapped;
    if (from->is_image) return status::not_mapped_as_pointer;
    if (out) *out = from->memory;
    if (bytes) *bytes = buffer_bytes;
    return status::success;
  });
}

status cuGraphicsResourceGetMappedMipmappedArray(mipmapped_array** out, graphics_resource* from) {
  if (!out) return status::invalid_value;
  return with_resource(from, [&](machine&) {
    if (!from->is_mapped()) return status::not_mapped;
    if (!from->is_image) return status::not_mapped_as_array;
    *out = from->image;
    return status::success;
  });
}

status cuGraphicsSubResourceGetMappedArray(device_array** out, graphics_resource* from, unsigned index,
                                           unsigned level) {
  if (!out || index || level) return status::invalid_value;
  mipmapped_array* all = nullptr;
  const status result = cuGraphicsResourceGetMappedMipmappedArray(&all, from);
  return result == status::success ? cuMipmappedArrayGetLevel(out, all, 0) : result;
}

}  // namespace simcuda::api
