// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

/// Runs the body with the device, or answers that there is none.
template <class Body>
status with_device(device_ordinal ordinal, Body body) {
  const locked_machine sim;
  device* found = sim->find_device(ordinal);
  return found ? body(*found) : status::invalid_device;
}

/// Copies as much as fits and ends it with a NUL.
status copy_text(const std::string& text, char* target, int length) {
  if (!target || length <= 0) return status::invalid_value;
  const auto count = std::min(text.size(), static_cast<std::size_t>(length) - 1);
  std::memcpy(target, text.data(), count);
  target[count] = '\0';
  return status::success;
}

}  // namespace

status cuDeviceGetCount(int* count) {
  if (!count) return status::invalid_value;
  *count = static_cast<int>(machine::instance().devices.size());
  return status::success;
}

status cuDeviceGet(device_ordinal* target, int ordinal) {
  if (!target) return status::invalid_value;
  return with_device(ordinal, [&](device& found) {
    *target = found.ordinal();
    return status::success;
  });
}

status cuDeviceGetName(char* name, int length, device_ordinal ordinal) {
  return with_device(ordinal, [&](device& found) { return copy_text(found.description().name, name, length); });
}

status cuDeviceGetUuid(uuid* id, device_ordinal ordinal) {
  if (!id) return status::invalid_value;
  return with_device(ordinal, [&](device& found) {
    std::ranges::copy(found.description().uuid, id->bytes);
    return status::success;
  });
}

status cuDeviceGetPCIBusId(char* id, int length, device_ordinal ordinal) {
  return with_device(ordinal, [&](device& found) { return copy_text(found.pci_bus_id(), id, length); });
}

status cuDeviceGetByPCIBusId(device_ordinal* target, const char* id) {
  if (!target || !id) return status::invalid_value;
  const locked_machine sim;
  for (const auto& candidate : sim->devices) {
    const std::string known = candidate->pci_bus_id();
    const bool without_domain = known.substr(known.find(':') + 1) == id;
    if (known == id || without_domain) {
      *target = candidate->ordinal();
      return status::success;
    }
  }
  return status::invalid_device;
}

status cuDeviceTotalMem(unsigned* bytes, device_ordinal ordinal) {
  if (!bytes) return status::invalid_value;
  return with_device(ordinal, [&](device& found) {
    *bytes = static_cast<unsigned>(std::min<std::size_t>(found.capacity(), 0xffffffffu));
    return status::success;
  });
}

status cuDeviceTotalMem_v2(std::size_t* bytes, device_ordinal ordinal) {
  if (!bytes) return status::invalid_value;
  return with_device(ordinal, [&](device& found) {
    *bytes = found.capacity();
    return status::success;
  });
}

status cuDeviceGetAttribute(int* value, int number, device_ordinal ordinal) {
  if (!value) return status::invalid_value;
  return with_device(ordinal, [&](device& found) {
    const auto known = found.attribute(number);
    if (!known) return status::invalid_value;
    *value = *known;
    return status::success;
  });
}

status cuDeviceComputeCapability(int* major, int* minor, device_ordinal ordinal) {
  if (!major || !minor) return status::invalid_value;
  return with_device(ordinal, [&](device& found) {
    *major = found.description().compute_capability[0];
    *minor = found.description().compute_capability[1];
    return status::success;
  });
}

}  // namespace simcuda::api
