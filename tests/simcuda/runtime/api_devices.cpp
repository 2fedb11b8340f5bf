// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "runtime/api.h"
#include "runtime/start.h"

namespace simcuda::runtime_api {

status cudaRuntimeGetVersion(int* version) {
  if (!version) return status::invalid_value;
  *version = runtime_version;
  return status::success;
}

// Without a driver the version is 0, which is no error (measured).
status cudaDriverGetVersion(int* version) {
  if (!version) return status::invalid_value;
  *version = 0;
  const driver_link* link = loaded_driver();
  const auto read = link ? link->functions(false).cuDriverGetVersion : nullptr;
  return read ? read(version) : status::success;
}

#if SIMCUDA_RUNTIME_VERSION >= 12000
status cudaGetDriverEntryPointByVersion(const char* name, void** entry, unsigned version, unsigned long long flags,
                                        int* found) {
  if (!name || !*name || !entry) return status::invalid_value;
  return loaded_driver()->resolve(name, entry, static_cast<int>(version), flags, found);
}

status cudaGetDriverEntryPoint(const char* name, void** entry, unsigned long long flags, int* found) {
  return cudaGetDriverEntryPointByVersion(name, entry, runtime_version, flags, found);
}
#else
// One name, two arities: a fourth argument came with CUDA 12.
status cudaGetDriverEntryPoint(const char* name, void** entry, unsigned long long flags) {
  if (!name || !*name || !entry) return status::invalid_value;
  return loaded_driver()->resolve(name, entry, runtime_version, flags, nullptr);
}
#endif

status cudaGetDeviceCount(int* count) { return driver().cuDeviceGetCount(count); }
status cudaSetDevice(int device) { return choose_device(device); }

status cudaGetDevice(int* device) {
  if (!device) return status::invalid_value;
  *device = current_device();
  return status::success;
}

#if SIMCUDA_RUNTIME_VERSION >= 12000
status cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  constexpr unsigned flags_are_valid = 1;
  if (flags & ~flags_are_valid) return status::invalid_value;
  if (flags) {
    const status result = driver().cuDevicePrimaryCtxSetFlags(device, device_flags);
    if (result != status::success) return result;
  }
  return choose_device(device);
}
#endif

status cudaSetDeviceFlags(unsigned flags) { return driver().cuDevicePrimaryCtxSetFlags(current_device(), flags); }

status cudaGetDeviceFlags(unsigned* flags) {
  int active = 0;
  return driver().cuDevicePrimaryCtxGetState(current_device(), flags, &active);
}

status cudaDeviceReset() { return reset_device(); }
status cudaDeviceSynchronize() { return driver().cuCtxSynchronize(); }

status cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return driver().cuDeviceGetAttribute(value, attribute, device);
}

namespace {

template <class Member>
status read_property(Member& member, int attribute, int device) {
  int value = 0;
  const status result = driver().cuDeviceGetAttribute(&value, attribute, device);
  if (result == status::success) member = static_cast<Member>(value);
  return result;
}

}  // namespace

status cudaGetDeviceProperties(device_properties* properties, int device) {
  if (!properties) return status::invalid_value;
  *properties = {};
  status result = driver().cuDeviceGetName(properties->name, sizeof properties->name, device);
  if (result == status::success) result = driver().cuDeviceGetUuid(&properties->uuid, device);
  if (result == status::success) result = driver().cuDeviceTotalMem_v2(&properties->totalGlobalMem, device);
#define DEVICE_PROPERTY(member, attribute) \
  if (result == status::success) result = read_property(properties->member, attribute, device);
#include "runtime/device_properties.def"
#undef DEVICE_PROPERTY
  return result;
}

status cudaDeviceGetPCIBusId(char* id, int length, int device) {
  return driver().cuDeviceGetPCIBusId(id, length, device);
}

status cudaDeviceGetByPCIBusId(int* device, const char* id) { return driver().cuDeviceGetByPCIBusId(device, id); }

status cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return driver().cuDeviceCanAccessPeer(can, device, peer);
}

status cudaDeviceGetLimit(std::size_t* value, int limit) { return driver().cuCtxGetLimit(value, limit); }
status cudaDeviceSetLimit(int limit, std::size_t value) { return driver().cuCtxSetLimit(limit, value); }

status cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return driver().cuCtxGetStreamPriorityRange(least, greatest);
}

status cudaDeviceGetDefaultMemPool(memory_pool** pool, int device) {
  return driver().cuDeviceGetDefaultMemPool(pool, device);
}

status cudaDeviceGetMemPool(memory_pool** pool, int device) { return driver().cuDeviceGetMemPool(pool, device); }
status cudaDeviceSetMemPool(int device, memory_pool* pool) { return driver().cuDeviceSetMemPool(device, pool); }

status cudaDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  return driver().cuDeviceGetP2PAttribute(value, attribute, device, peer);
}

status cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  context* of_peer = nullptr;
  const status found = primary_of(peer, of_peer);
  return found == status::success ? driver().cuCtxEnablePeerAccess(of_peer, flags) : found;
}

status cudaDeviceDisablePeerAccess(int peer) {
  context* of_peer = nullptr;
  const status found = primary_of(peer, of_peer);
  return found == status::success ? driver().cuCtxDisablePeerAccess(of_peer) : found;
}

}  // namespace simcuda::runtime_api
