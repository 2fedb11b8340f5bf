// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "driver/visible_devices.h"
#include "nvml/api.h"
#include "nvml/copy_text.h"
#include "nvml/system.h"

namespace simcuda::nvml::api {
namespace {

/// Runs the body when the handle is one of ours and there is somewhere to put the answer.
template <class Out, class Body>
outcome answer(const gpu* device, Out* out, Body body) {
  if (!out || !machine_view::instance().contains(device)) return outcome::invalid_argument;
  return body(*out);
}

template <class Condition>
outcome find(gpu** out, Condition condition) {
  for (const auto& device : machine_view::instance().devices()) {
    if (!condition(*device)) continue;
    *out = device.get();
    return outcome::success;
  }
  return outcome::not_found;
}

}  // namespace

outcome nvmlDeviceGetCount_v2(unsigned* count) {
  if (!count) return outcome::invalid_argument;
  *count = static_cast<unsigned>(machine_view::instance().devices().size());
  return outcome::success;
}

outcome nvmlDeviceGetHandleByIndex_v2(unsigned index, gpu** out) {
  if (!out || index >= machine_view::instance().devices().size()) return outcome::invalid_argument;
  *out = machine_view::instance().devices()[index].get();
  return outcome::success;
}

outcome nvmlDeviceGetHandleByUUID(const char* id, gpu** out) {
  if (!id || !out) return outcome::invalid_argument;
  return find(out, [id](const gpu& one) { return uuid_text(one.about.uuid) == id; });
}

outcome nvmlDeviceGetHandleByPciBusId_v2(const char* id, gpu** out) {
  if (!id || !out) return outcome::invalid_argument;
  unsigned domain = 0, bus = 0, device = 0;
  if (std::sscanf(id, "%x:%x:%x", &domain, &bus, &device) != 3) {
    domain = 0;
    if (std::sscanf(id, "%x:%x", &bus, &device) != 2) return outcome::invalid_argument;
  }
  return find(out, [&](const gpu& one) {
    return one.about.pci_domain == int(domain) && one.about.pci_bus == int(bus) && one.about.pci_device == int(device);
  });
}

outcome nvmlDeviceGetName(gpu* device, char* text, unsigned length) {
  return answer(device, text, [&](char&) { return copy_text(device->about.name, text, length); });
}

outcome nvmlDeviceGetUUID(gpu* device, char* text, unsigned length) {
  return answer(device, text, [&](char&) { return copy_text(uuid_text(device->about.uuid), text, length); });
}

outcome nvmlDeviceGetIndex(gpu* device, unsigned* index) {
  return answer(device, index, [&](unsigned& out) {
    out = device->index;
    return outcome::success;
  });
}

outcome nvmlDeviceGetPciInfo_v3(gpu* device, pci_info* info) {
  return answer(device, info, [&](pci_info& out) {
    const auto& about = device->about;
    out = {};
    out.domain = static_cast<unsigned>(about.pci_domain);
    out.bus = static_cast<unsigned>(about.pci_bus);
    out.device = static_cast<unsigned>(about.pci_device);
    std::snprintf(out.legacy_id, sizeof out.legacy_id, "%04X:%02X:%02X.0", out.domain & 0xffff, out.bus & 0xff,
                  out.device & 0xff);
    std::snprintf(out.id, sizeof out.id, "%08X:%02X:%02X.0", out.domain, out.bus & 0xff, out.device & 0xff);
    return outcome::success;
  });
}

outcome nvmlDeviceGetCudaComputeCapability(gpu* device, int* major, int* minor) {
  if (!minor) return outcome::invalid_argument;
  return answer(device, major, [&](int& out) {
    out = device->about.compute_capability[0];
    *minor = device->about.compute_capability[1];
    return outcome::success;
  });
}

outcome nvmlDeviceGetComputeMode(gpu* device, int* mode) {
  return answer(device, mode, [&](int& out) {
    out = static_cast<int>(device->about.mode);
    return outcome::success;
  });
}

outcome nvmlDeviceGetPersistenceMode(gpu* device, int* mode) {
  return answer(device, mode, [&](int& out) {
    out = device->about.persistence;
    return outcome::success;
  });
}

outcome nvmlDeviceGetMigMode(gpu* device, unsigned* current, unsigned* pending) {
  if (!pending) return outcome::invalid_argument;
  return answer(device, current, [&](unsigned& out) {
    if (device->about.mig == mig_mode::unsupported) return outcome::not_supported;
    out = *pending = device->about.mig == mig_mode::enabled;
    return outcome::success;
  });
}

outcome nvmlDeviceGetMaxMigDeviceCount(gpu* device, unsigned* count) {
  return answer(device, count, [&](unsigned& out) {
    out = device->about.mig == mig_mode::unsupported ? 0 : 7;
    return outcome::success;
  });
}

outcome nvmlDeviceGetMigDeviceHandleByIndex(gpu* device, unsigned, gpu** out) {
  return answer(device, out, [&](gpu*&) {
    return device->about.mig == mig_mode::enabled ? outcome::not_found : outcome::not_supported;
  });
}

outcome nvmlDeviceIsMigDeviceHandle(gpu* device, unsigned* is_mig) {
  return answer(device, is_mig, [](unsigned& out) {
    out = 0;
    return outcome::success;
  });
}

}  // namespace simcuda::nvml::api
