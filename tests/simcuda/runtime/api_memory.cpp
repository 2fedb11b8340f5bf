// SPDX-License-Identifier: Apache-2.0
#include "runtime/api.h"
#include "runtime/program_code.h"
#include "runtime/start.h"

namespace simcuda::runtime_api {
namespace {

device_ptr address_of(const void* pointer) { return reinterpret_cast<device_ptr>(pointer); }
device_ptr* address_slot(void** pointer) { return reinterpret_cast<device_ptr*>(pointer); }

/// The runtime answers a request for nothing with a null pointer, where the driver refuses it.
template <class Allocate>
status allocate_unless_empty(void** out, std::size_t bytes, Allocate allocate) {
  if (!out) return status::invalid_value;
  if (bytes) return allocate();
  *out = nullptr;
  return status::success;
}

}  // namespace

status cudaMalloc(void** out, std::size_t bytes) {
  return allocate_unless_empty(out, bytes, [&] { return driver().cuMemAlloc_v2(address_slot(out), bytes); });
}

status cudaMallocPitch(void** out, std::size_t* pitch, std::size_t width_bytes, std::size_t height) {
  constexpr unsigned element_bytes = 4;
  if (!pitch) return status::invalid_value;
  return allocate_unless_empty(out, width_bytes && height, [&] {
    return driver().cuMemAllocPitch_v2(address_slot(out), pitch, width_bytes, height, element_bytes);
  });
}

status cudaMallocManaged(void** out, std::size_t bytes, unsigned flags) {
  return driver().cuMemAllocManaged(address_slot(out), bytes, flags);
}

status cudaFree(void* address) { return address ? driver().cuMemFree_v2(address_of(address)) : status::success; }

status cudaHostAlloc(void** out, std::size_t bytes, unsigned flags) {
  return allocate_unless_empty(out, bytes, [&] { return driver().cuMemHostAlloc(out, bytes, flags); });
}

status cudaMallocHost(void** out, std::size_t bytes) { return cudaHostAlloc(out, bytes, 0); }
status cudaFreeHost(void* address) { return address ? driver().cuMemFreeHost(address) : status::success; }

status cudaHostRegister(void* address, std::size_t bytes, unsigned flags) {
  return driver().cuMemHostRegister_v2(address, bytes, flags);
}

status cudaHostUnregister(void* address) { return driver().cuMemHostUnregister(address); }

status cudaHostGetDevicePointer(void** out, void* address, unsigned flags) {
  return driver().cuMemHostGetDevicePointer_v2(address_slot(out), address, flags);
}

status cudaHostGetFlags(unsigned* flags, void* address) { return driver().cuMemHostGetFlags(flags, address); }
status cudaMemGetInfo(std::size_t* free, std::size_t* total) { return driver().cuMemGetInfo_v2(free, total); }

status cudaPointerGetAttributes(pointer_description* description, const void* address) {
  if (!description) return status::invalid_value;
  int attributes[] = {2, 3, 4, 8, 9};
  int type = 0, managed = 0, device = 0;
  *description = {};
  void* values[] = {&type, &description->device_pointer, &description->host_pointer, &managed, &device};
  const status result = driver().cuPointerGetAttributes(std::size(attributes), attributes, values, address_of(address));
  constexpr int managed_type = 3;
  description->type = managed ? managed_type : type;
  description->device = type ? device : -2;
  if (!type) description->host_pointer = const_cast<void*>(address);
  return result;
}

status cudaIpcGetMemHandle(ipc_handle* out, void* address) {
  return driver().cuIpcGetMemHandle(out, address_of(address));
}

status cudaIpcOpenMemHandle(void** out, ipc_handle handle, unsigned flags) {
  return driver().cuIpcOpenMemHandle_v2(address_slot(out), handle, flags);
}

status cudaIpcCloseMemHandle(void* address) { return driver().cuIpcCloseMemHandle(address_of(address)); }
status cudaIpcGetEventHandle(ipc_handle* out, event* mark) { return driver().cuIpcGetEventHandle(out, mark); }
status cudaIpcOpenEventHandle(event** out, ipc_handle handle) { return driver().cuIpcOpenEventHandle(out, handle); }

status cudaMallocAsync(void** out, std::size_t bytes, stream* queue) {
  return allocate_unless_empty(out, bytes, [&] { return driver().cuMemAllocAsync(address_slot(out), bytes, queue); });
}

status cudaMallocFromPoolAsync(void** out, std::size_t bytes, memory_pool* pool, stream* queue) {
  return allocate_unless_empty(out, bytes,
                               [&] { return driver().cuMemAllocFromPoolAsync(address_slot(out), bytes, pool, queue); });
}

status cudaFreeAsync(void* address, stream* queue) { return driver().cuMemFreeAsync(address_of(address), queue); }

}  // namespace simcuda::runtime_api
