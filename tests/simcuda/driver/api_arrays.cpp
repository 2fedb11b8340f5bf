// SPDX-License-Identifier: Apache-2.0
#include "driver/api.h"
#include "driver/arrays.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

constexpr std::size_t largest_extent = std::size_t{1} << 20;

status check(const array_description_3d* wanted) {
  if (!wanted) return status::invalid_value;
  if (wanted->format > 0 && !has_known_format(*wanted)) return status::not_supported;
  const bool fits = wanted->width && wanted->width <= largest_extent && wanted->height <= largest_extent &&
                    wanted->depth <= largest_extent;
  const bool is_cube = !(wanted->flags & array_flag::cubemap) || (wanted->depth && wanted->depth % 6 == 0);
  return fits && is_cube && element_bytes(*wanted) ? status::success : status::invalid_value;
}

/// Deferred and sparse arrays get no memory until something is mapped into them.
status back_with_memory(machine& sim, std::size_t bytes, unsigned flags, device_ptr& memory) {
  memory = 0;
  const status safe = sim.graphs.unsafe_call();
  if (safe != status::success) return safe;
  if (flags & (array_flag::deferred | array_flag::sparse)) return status::success;
  const block* made = nullptr;
  const status result = sim.blocks.allocate(
      {.bytes = bytes, .kind = block_kind::array, .owner = &current_context().owner, .made_in = &current_context()},
      made);
  if (result == status::success) memory = made->address;
  return result;
}

status tell_requirements(array_requirements* out, const array_description_3d& about, std::size_t bytes) {
  if (!out || !(about.flags & array_flag::deferred)) return status::invalid_value;
  constexpr std::size_t tile = std::size_t{64} << 10;
  *out = {(bytes + tile - 1) / tile * tile, tile, {}};
  return status::success;
}

}  // namespace

status cuArrayCreate_v2(device_array** out, const array_description* wanted) {
  if (!wanted) return status::invalid_value;
  const array_description_3d full{wanted->width, wanted->height, 0, wanted->format, wanted->channels, 0};
  return cuArray3DCreate_v2(out, &full);
}

status cuArray3DCreate_v2(device_array** out, const array_description_3d* wanted) {
  const status valid = check(wanted);
  if (!out || valid != status::success) return out ? valid : status::invalid_value;
  const locked_machine sim;
  device_ptr memory = 0;
  const status result = back_with_memory(*sim, array_bytes(*wanted), wanted->flags, memory);
  if (result == status::success) *out = sim->arrays.create(&current_context(), *wanted, memory);
  return result;
}

status cuArrayDestroy(device_array* target) {
  const locked_machine sim;
  if (!sim->arrays.contains(target)) return status::invalid_handle;
  if (target->level_of) return status::invalid_value;
  give_back_array(*sim, target->memory);
  sim->arrays.destroy(target);
  return status::success;
}

status cuArray3DGetDescriptor_v2(array_description_3d* out, device_array* target) {
  const locked_machine sim;
  if (!sim->arrays.contains(target)) return status::invalid_handle;
  if (!out) return status::invalid_value;
  *out = target->about;
  return status::success;
}

status cuArrayGetDescriptor_v2(array_description* out, device_array* target) {
  if (!out) return status::invalid_value;
  array_description_3d full{};
  const status result = cuArray3DGetDescriptor_v2(&full, target);
  if (result == status::success) *out = {full.width, full.height, full.format, full.channels};
  return result;
}

status cuArrayGetMemoryRequirements(array_requirements* out, device_array* target, device_ordinal ordinal) {
  const locked_machine sim;
  if (!sim->arrays.contains(target)) return status::invalid_handle;
  if (!sim->find_device(ordinal)) return status::invalid_device;
  return tell_requirements(out, target->about, array_bytes(target->about));
}

status cuMipmappedArrayCreate(mipmapped_array** out, const array_description_3d* wanted, unsigned levels) {
  const status valid = check(wanted);
  if (!out || valid != status::success) return out ? valid : status::invalid_value;
  if (!levels) return status::invalid_value;
  const unsigned usable = std::min(levels, most_levels(*wanted));
  const locked_machine sim;
  device_ptr memory = 0;
  const status result = back_with_memory(*sim, chain_bytes(*wanted, usable), wanted->flags, memory);
  if (result != status::success) return result;
  *out = make_mipmapped(*sim, *wanted, usable, memory);
  return status::success;
}

status cuMipmappedArrayGetLevel(device_array** out, mipmapped_array* target, unsigned level) {
  const locked_machine sim;
  if (!sim->mipmapped_arrays.contains(target)) return status::invalid_handle;
  if (!out || level >= target->levels.size()) return status::invalid_value;
  *out = target->levels[level];
  return status::success;
}

status cuMipmappedArrayDestroy(mipmapped_array* target) {
  const locked_machine sim;
  if (!sim->mipmapped_arrays.contains(target)) return status::invalid_handle;
  destroy_mipmapped(*sim, target);
  return status::success;
}

status cuMipmappedArrayGetMemoryRequirements(array_requirements* out, mipmapped_array* target, device_ordinal ordinal) {
  const locked_machine sim;
  if (!sim->mipmapped_arrays.contains(target)) return status::invalid_handle;
  if (!sim->find_device(ordinal)) return status::invalid_device;
  const auto levels = static_cast<unsigned>(target->levels.size());
  return tell_requirements(out, target->about, chain_bytes(target->about, levels));
}

}  // namespace simcuda::api
