// SPDX-License-Identifier: Apache-2.0
// The interface before CUDA 3.2 has 32-bit sizes and pointers; on a context of the newer interface the real driver
// answers "invalid context", which is how resolving the wrong version shows.
#include "driver/api.h"

namespace simcuda::api {

status cuMemAlloc(legacy_device_ptr*, unsigned) { return status::invalid_context; }
status cuMemAllocPitch(legacy_device_ptr*, unsigned*, unsigned, unsigned, unsigned) { return status::invalid_context; }
status cuMemFree(legacy_device_ptr) { return status::invalid_context; }
status cuMemAllocHost(void**, unsigned) { return status::invalid_context; }
status cuMemHostGetDevicePointer(legacy_device_ptr*, void*, unsigned) { return status::invalid_context; }
status cuMemGetInfo(unsigned*, unsigned*) { return status::invalid_context; }
status cuMemGetAddressRange(legacy_device_ptr*, unsigned*, legacy_device_ptr) { return status::invalid_context; }
status cuModuleGetGlobal(legacy_device_ptr*, unsigned*, code_module*, const char*) { return status::invalid_context; }
status cuArrayCreate(device_array**, const void*) { return status::invalid_context; }
status cuArray3DCreate(device_array**, const void*) { return status::invalid_context; }
status cuArrayGetDescriptor(void*, device_array*) { return status::invalid_context; }
status cuArray3DGetDescriptor(void*, device_array*) { return status::invalid_context; }
status cuGraphicsResourceGetMappedPointer(legacy_device_ptr*, unsigned*, graphics_resource*) {
  return status::invalid_context;
}

}  // namespace simcuda::api
