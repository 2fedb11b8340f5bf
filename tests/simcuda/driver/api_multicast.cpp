// SPDX-License-Identifier: Apache-2.0
// Multicast objects: who belongs to the team, and which memory is bound. What is written to one reaches nobody.
#include <algorithm>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

constexpr int pinned_type = 1;
constexpr unsigned long long posix_descriptor = 1;

template <class Body>
status with_team(memory_handle handle, Body body) {
  const locked_machine sim;
  physical_memory* found = sim->ranges.find(handle);
  return found && found->team ? body(*sim, *found) : status::invalid_value;
}

bool is_whole(std::size_t value) { return value % virtual_memory::granularity == 0; }

bool is_inside(std::size_t offset, std::size_t bytes, const physical_memory& memory) {
  return is_whole(offset) && is_whole(bytes) && bytes && offset <= memory.bytes && bytes <= memory.bytes - offset;
}

status bind(machine& sim, physical_memory& object, std::size_t offset, physical_memory* memory, std::size_t bytes) {
  if (!memory || memory->team || !memory->charged || !is_inside(offset, bytes, object)) return status::invalid_value;
  multicast_team& team = *object.team;
  const device_ordinal on = memory->charged->ordinal();
  if (team.devices.size() < team.size || !team.devices.contains(on)) return status::invalid_value;
  const bool overlaps = std::ranges::any_of(team.bound, [&](const auto& known) {
    return known.on == on && offset < known.offset + known.bytes && known.offset < offset + bytes;
  });
  if (overlaps) return status::invalid_value;
  team.bound.push_back({offset, bytes, on, memory_hold(sim.ranges, *memory)});
  return status::success;
}

}  // namespace

status cuMulticastGetGranularity(std::size_t* bytes, const multicast_properties* wanted, int option) {
  constexpr int recommended = 1;
  if (!bytes || !wanted || option < 0 || option > recommended) return status::invalid_value;
  *bytes = virtual_memory::granularity;
  return status::success;
}

status cuMulticastCreate(memory_handle* out, const multicast_properties* wanted) {
  if (!out || !wanted || !wanted->devices || wanted->flags) return status::invalid_value;
  if (wanted->handle_types & ~posix_descriptor) return status::not_supported;
  const locked_machine sim;
  allocation_properties properties{};
  properties.type = pinned_type;
  properties.handle_types = static_cast<int>(wanted->handle_types);
  physical_memory* made = nullptr;
  const status result = sim->ranges.create_multicast(wanted->devices, wanted->bytes, properties, made);
  if (result == status::success) *out = reinterpret_cast<memory_handle>(made);
  return result;
}

status cuMulticastAddDevice(memory_handle object, device_ordinal ordinal) {
  return with_team(object, [&](machine& sim, physical_memory& found) {
    if (!sim.find_device(ordinal)) return status::invalid_device;
    multicast_team& team = *found.team;
    if (team.devices.size() == team.size) return status::invalid_value;
    return team.devices.insert(ordinal).second ? status::success : status::invalid_value;
  });
}

status cuMulticastBindMem(memory_handle object, std::size_t offset, memory_handle memory, std::size_t memory_offset,
                          std::size_t bytes, unsigned long long flags) {
  return with_team(object, [&](machine& sim, physical_memory& found) {
    physical_memory* bound = sim.ranges.find(memory);
    if (flags || !bound || !is_inside(memory_offset, bytes, *bound)) return status::invalid_value;
    return bind(sim, found, offset, bound, bytes);
  });
}

status cuMulticastBindAddr(memory_handle object, std::size_t offset, device_ptr address, std::size_t bytes,
                           unsigned long long flags) {
  return with_team(object, [&](machine& sim, physical_memory& found) {
    if (flags || !is_whole(address)) return status::invalid_value;
    return bind(sim, found, offset, sim.ranges.mapped_at(address), bytes);
  });
}

status cuMulticastUnbind(memory_handle object, device_ordinal ordinal, std::size_t offset, std::size_t bytes) {
  return with_team(object, [&](machine& sim, physical_memory& found) {
    if (!sim.find_device(ordinal)) return status::invalid_device;
    const auto removed = std::erase_if(found.team->bound, [&](const auto& known) {
      return known.on == ordinal && known.offset == offset && known.bytes == bytes;
    });
    return removed ? status::success : status::invalid_value;
  });
}

}  // namespace simcuda::api
