// THE table of CUDA functions that the shim calls itself. All are queries that change nothing; each is cheap and needs
// no synchronization with the device. What they are for: intercept/driver_queries.hpp.
#pragma once

#include <cstddef>

#include "api/cuda_types.hpp"

namespace gpumem {

struct DeviceUuid {
  unsigned char bytes[16];
};

#define GPUMEM_OWN_CALLS(X)                                             \
  X(cuCtxGetCurrent, (CUcontext*))                                      \
  X(cuCtxGetDevice, (CUdevice*))                                        \
  X(cuMemGetInfo_v2, (std::size_t*, std::size_t*))                      \
  X(cuDevicePrimaryCtxGetState, (CUdevice, unsigned*, int*))            \
  X(cuDeviceGet, (CUdevice*, int))                                      \
  X(cuDeviceGetName, (char*, int, CUdevice))                            \
  X(cuDeviceGetUuid_v2, (DeviceUuid*, CUdevice))                        \
  X(cuDeviceGetUuid, (DeviceUuid*, CUdevice))                           \
  X(cuDeviceGetPCIBusId, (char*, int, CUdevice))                        \
  X(cuDeviceTotalMem_v2, (std::size_t*, CUdevice))                      \
  X(cuDeviceGetAttribute, (int*, int, CUdevice))                        \
  X(cuDeviceGetCount, (int*))                                           \
  X(cuDeviceGetDefaultMemPool, (CUmemoryPool*, CUdevice))               \
  X(cuMemPoolGetAttribute, (CUmemoryPool, int, void*))                  \
  X(cuDeviceGetGraphMemAttribute, (CUdevice, int, void*))               \
  X(cuMemGetAddressRange_v2, (CUdeviceptr*, std::size_t*, CUdeviceptr)) \
  X(cuStreamGetCaptureInfo, (CUstream, int*, cuuint64_t*))              \
  X(cuLogsCurrent, (unsigned*, unsigned))                               \
  X(cuLogsDumpToMemory, (unsigned*, char*, std::size_t*, unsigned))

// Pointers into one driver; null where it lacks the function.
struct OwnCalls {
#define X(symbol, params) CUresult(*symbol) params = nullptr;
  GPUMEM_OWN_CALLS(X)
#undef X
};

}  // namespace gpumem
