// SPDX-License-Identifier: Apache-2.0
// Memory behind deferred and sparse arrays. It is accounted and kept alive; copies do not reach it.
#include <algorithm>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

constexpr std::size_t tile_bytes = std::size_t{64} << 10;

bool is_mappable(const array_description_3d& about) {
  return about.flags & (array_flag::deferred | array_flag::sparse);
}

/// The parts of the array that the entry is about; nullptr: it is no array that can be mapped into.
std::vector<array_part>* parts_of(machine& sim, const array_mapping& wanted) {
  if (wanted.resource_type == 0) {
    auto* target = static_cast<device_array*>(wanted.resource);
    const bool fits = sim.arrays.contains(target) && !target->level_of && is_mappable(target->about);
    return fits ? &target->parts : nullptr;
  }
  auto* target = static_cast<mipmapped_array*>(wanted.resource);
  const bool fits = wanted.resource_type == 1 && sim.mipmapped_arrays.contains(target) && is_mappable(target->about);
  return fits ? &target->parts : nullptr;
}

status apply(machine& sim, const array_mapping& wanted) {
  auto* parts = parts_of(sim, wanted);
  if (!parts || wanted.flags || wanted.handle_type) return status::invalid_value;
  const auto place = std::to_array(wanted.part);
  const auto is_this = [&](const array_part& known) { return known.type == wanted.part_type && known.place == place; };
  if (wanted.operation == array_operation::unmap) {
    return !wanted.memory && std::erase_if(*parts, is_this) ? status::success : status::invalid_value;
  }
  physical_memory* memory = sim.ranges.find(wanted.memory);
  if (wanted.operation != array_operation::map || !memory || memory->team || wanted.offset >= memory->bytes) {
    return status::invalid_value;
  }
  std::erase_if(*parts, is_this);
  parts->push_back({wanted.part_type, place, memory_hold(sim.ranges, *memory)});
  return status::success;
}

status tell_sparse(sparse_properties* out, const array_description_3d& about, std::size_t bytes) {
  if (!out || !(about.flags & array_flag::sparse)) return status::invalid_value;
  const auto across = static_cast<unsigned>(std::max<std::size_t>(tile_bytes / 256 / element_bytes(about), 1));
  *out = {across, 256, 1, 0, (bytes + tile_bytes - 1) / tile_bytes * tile_bytes, 0, {}};
  return status::success;
}

}  // namespace

status cuMemMapArrayAsync(array_mapping* list, unsigned count, stream* queue) {
  if (!list || !count) return status::invalid_value;
  const locked_machine sim;
  if (!sim->usable(queue)) return status::invalid_handle;
  status result = status::success;
  for (unsigned index = 0; index < count && result == status::success; ++index) result = apply(*sim, list[index]);
  return result;
}

status cuArrayGetSparseProperties(sparse_properties* out, device_array* target) {
  const locked_machine sim;
  if (!sim->arrays.contains(target)) return status::invalid_handle;
  return tell_sparse(out, target->about, array_bytes(target->about));
}

status cuMipmappedArrayGetSparseProperties(sparse_properties* out, mipmapped_array* target) {
  const locked_machine sim;
  if (!sim->mipmapped_arrays.contains(target)) return status::invalid_handle;
  const auto levels = static_cast<unsigned>(target->levels.size());
  return tell_sparse(out, target->about, chain_bytes(target->about, levels));
}

}  // namespace simcuda::api
