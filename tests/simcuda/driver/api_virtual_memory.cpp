// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

constexpr int pinned_type = 1;
constexpr int posix_descriptor = 1;

memory_handle handle_of(const physical_memory* memory) { return reinterpret_cast<memory_handle>(memory); }

/// The device that pays, or nullptr for memory of the host.
status check_location(machine& sim, memory_location where, device*& owner) {
  owner = nullptr;
  if (where.type >= location_host && where.type <= location_host_numa_current) return status::success;
  if (where.type != location_device) return status::invalid_value;
  owner = sim.find_device(where.id);
  return owner ? status::success : status::invalid_device;
}

status check_properties(machine& sim, const allocation_properties* wanted, device*& owner) {
  if (!wanted || wanted->type != pinned_type) return status::invalid_value;
  if (wanted->handle_types & ~posix_descriptor) return status::not_supported;
  return check_location(sim, wanted->location, owner);
}

template <class Body>
status with_memory(memory_handle handle, Body body) {
  const locked_machine sim;
  physical_memory* found = sim->ranges.find(handle);
  return found ? body(*sim, *found) : status::invalid_value;
}

}  // namespace

status cuMemAddressReserve(device_ptr* out, std::size_t bytes, std::size_t alignment, device_ptr wanted,
                           unsigned long long flags) {
  if (!out || flags) return status::invalid_value;
  const locked_machine sim;
  return sim->ranges.reserve(bytes, alignment, wanted, *out);
}

status cuMemAddressFree(device_ptr address, std::size_t bytes) {
  const locked_machine sim;
  return sim->ranges.free(address, bytes);
}

status cuMemCreate(memory_handle* out, std::size_t bytes, const allocation_properties* properties,
                   unsigned long long flags) {
  if (!out || flags) return status::invalid_value;
  const locked_machine sim;
  device* owner = nullptr;
  status result = check_properties(*sim, properties, owner);
  physical_memory* made = nullptr;
  if (result == status::success) result = sim->ranges.create(bytes, *properties, owner, made);
  if (result == status::success) *out = handle_of(made);
  return result;
}

status cuMemRelease(memory_handle handle) {
  return with_memory(handle, [](machine& sim, physical_memory& memory) {
    sim.ranges.release(memory);
    return status::success;
  });
}

status cuMemMap(device_ptr address, std::size_t bytes, std::size_t offset, memory_handle handle,
                unsigned long long flags) {
  if (flags) return status::invalid_value;
  return with_memory(handle, [&](machine& sim, physical_memory& memory) {
    const memory_location where = memory.properties.location;
    device* owner = where.type == location_device ? sim.find_device(where.id) : nullptr;
    return sim.ranges.map(address, bytes, offset, memory, owner ? *owner : *sim.devices.front());
  });
}

status cuMemUnmap(device_ptr address, std::size_t bytes) {
  const locked_machine sim;
  return sim->ranges.unmap(address, bytes);
}

status cuMemSetAccess(device_ptr address, std::size_t bytes, const access_description* accesses, std::size_t count) {
  constexpr int read_write = 3;
  if (!accesses || !count) return status::invalid_value;
  const locked_machine sim;
  for (std::size_t index = 0; index < count; ++index) {
    device* owner = nullptr;
    const int flags = accesses[index].flags;
    if (flags != 0 && flags != 1 && flags != read_write) return status::invalid_value;
    const status known = check_location(*sim, accesses[index].location, owner);
    if (known != status::success) return known;
  }
  status result = status::success;
  for (std::size_t index = 0; index < count && result == status::success; ++index) {
    result = sim->ranges.set_access(address, bytes, accesses[index].location, accesses[index].flags);
  }
  return result;
}

status cuMemGetAccess(unsigned long long* flags, const memory_location* location, device_ptr address) {
  if (!flags || !location) return status::invalid_value;
  const locked_machine sim;
  device* owner = nullptr;
  int found = 0;
  status result = check_location(*sim, *location, owner);
  if (result == status::success) result = sim->ranges.access(address, *location, found);
  if (result == status::success) *flags = static_cast<unsigned>(found);
  return result;
}

status cuMemGetAllocationGranularity(std::size_t* bytes, const allocation_properties* properties, int option) {
  constexpr int recommended = 1;
  if (!bytes || option < 0 || option > recommended) return status::invalid_value;
  const locked_machine sim;
  device* owner = nullptr;
  const status result = check_properties(*sim, properties, owner);
  if (result == status::success) *bytes = virtual_memory::granularity;
  return result;
}

status cuMemGetAllocationPropertiesFromHandle(allocation_properties* properties, memory_handle handle) {
  if (!properties) return status::invalid_value;
  return with_memory(handle, [&](machine&, physical_memory& memory) {
    *properties = memory.properties;
    return status::success;
  });
}

status cuMemRetainAllocationHandle(memory_handle* out, void* address) {
  if (!out) return status::invalid_value;
  const locked_machine sim;
  physical_memory* found = sim->ranges.mapped_at(reinterpret_cast<device_ptr>(address));
  if (!found) return status::invalid_value;
  ++found->references;
  *out = handle_of(found);
  return status::success;
}

status cuMemExportToShareableHandle(void* out, memory_handle handle, int type, unsigned long long flags) {
  if (!out || flags || type != posix_descriptor) return status::invalid_value;
  return with_memory(handle, [&](machine&, physical_memory& memory) {
    if (!(memory.properties.handle_types & posix_descriptor)) return status::invalid_value;
    const int descriptor = fcntl(memory.file.descriptor(), F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) return status::operating_system;
    *static_cast<int*>(out) = descriptor;
    return status::success;
  });
}

status cuMemImportFromShareableHandle(memory_handle* out, void* os_handle, int type) {
  if (!out || type != posix_descriptor) return status::invalid_value;
  const locked_machine sim;
  physical_memory* found = nullptr;
  const auto descriptor = static_cast<int>(reinterpret_cast<std::intptr_t>(os_handle));
  const status result = sim->ranges.import(descriptor, found);
  if (result == status::success) *out = handle_of(found);
  return result;
}

}  // namespace simcuda::api
