// SPDX-License-Identifier: Apache-2.0
// The runtime's types as far as the simulated functions need them; compared with the toolkit's by the unit tests.
#pragma once

#include "driver/resource_types.h"
#include "driver/types.h"

namespace simcuda {

struct dimensions {
  unsigned x, y, z;
};

struct extent {
  std::size_t width, height, depth;
};

struct channel_description {
  int bits[4];
  int kind;
};

struct external_array_request {
  unsigned long long offset;
  channel_description channels;
  extent size;
  unsigned flags;
  unsigned levels;
  unsigned reserved[16];
};

struct pitched_pointer {
  void* pointer;
  std::size_t pitch, width, height;
};

enum class copy_kind : int { host_to_host, host_to_device, device_to_host, device_to_device, by_address };

struct runtime_launch {
  dimensions grid;
  dimensions block;
  std::size_t shared_bytes;
  simcuda::stream* stream;
  void* attributes;
  unsigned attribute_count;
};

struct pointer_description {
  int type;  // 0 unregistered host, 1 host, 2 device, 3 managed
  int device;
  void* device_pointer;
  void* host_pointer;
#if SIMCUDA_RUNTIME_VERSION >= 13000
  long reserved[8];
#endif
};

struct function_description {
  std::size_t shared_bytes;
  std::size_t constant_bytes;
  std::size_t local_bytes;
  // In the order of the driver's attributes, see api_code.cpp.
#if SIMCUDA_RUNTIME_VERSION >= 12000
  int values[13];
  int reserved[16];
#else
  int values[7];
#endif
};

/// cudaDeviceProp, which every major version changed. Members that have a driver attribute carry the toolkit's names:
/// api_devices.cpp lists them.
struct device_properties {
  char name[256];
  simcuda::uuid uuid;
  char luid[8];
  unsigned luid_node_mask;
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
#if SIMCUDA_RUNTIME_VERSION < 13000
  int clockRate;
#endif
  std::size_t totalConstMem;
  int major;
  int minor;
  std::size_t textureAlignment;
  std::size_t texturePitchAlignment;
#if SIMCUDA_RUNTIME_VERSION >= 13000
  int multiProcessorCount;
  int integrated;
  int canMapHostMemory;
  int texture_and_surface_limits[38];
#else
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int texture_and_surface_limits[40];
#endif
  std::size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
#if SIMCUDA_RUNTIME_VERSION < 13000
  int memoryClockRate;
#endif
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
#if SIMCUDA_RUNTIME_VERSION < 13000
  int singleToDoublePrecisionPerfRatio;
#endif
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
#if SIMCUDA_RUNTIME_VERSION < 13000
  int cooperativeMultiDeviceLaunch;
#endif
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
#if SIMCUDA_RUNTIME_VERSION >= 12000
  int hostRegisterSupported;
  int sparseCudaArraySupported;
  int hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported;
  int memoryPoolsSupported;
  int unlisted[71];  // RDMA, clusters, NUMA and what the toolkit reserves: zero
#endif
};

}  // namespace simcuda
