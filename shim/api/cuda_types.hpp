// CUDA's types as the ABI sees them. The shim includes no CUDA header: those rename functions by macro.
//
// A test includes the toolkit's headers and compares every row of cuda_api.def, and every structure here, with them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpumem {

using CUresult = int;
using cudaError_t = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUmemGenericAllocationHandle = unsigned long long;
using cuuint64_t = std::uint64_t;

// Structures and enumerations that the shim only passes on, and handles.
using OpaquePointer = void*;

// By value.
struct CUipcMemHandle {
  char reserved[64];
};
using cudaIpcMemHandle_t = CUipcMemHandle;
struct CUipcEventHandle {
  char reserved[64];
};
using cudaIpcEventHandle_t = CUipcEventHandle;
struct cudaExtent {
  std::size_t width, height, depth;
};
struct cudaPitchedPtr {
  void* pointer;
  std::size_t pitch, width, height;
};
struct dim3 {
  unsigned x, y, z;
};

// Read after the call that was given one has succeeded. Only the members that the shim needs have names.
struct CUmemLocation {
  int type, id;
};
inline constexpr int location_device = 1, location_host = 2, location_host_numa = 3, location_host_numa_current = 4;
struct CUmemAllocationProp {
  int type, handle_types;
  CUmemLocation location;
  void* metadata;
  unsigned char flags[8];
};
struct CUmemPoolProps {
  int type, handle_types;
  CUmemLocation location;
  void* attributes;
  std::size_t max_size;
  unsigned char reserved[56];
};
struct CUDA_MEM_ALLOC_NODE_PARAMS {
  CUmemPoolProps pool_properties;
  const void* access;
  std::size_t accesses;
  std::size_t bytes;
  CUdeviceptr pointer;
};
struct CUgraphNodeParams {
  int type;
  int reserved[3];
  CUDA_MEM_ALLOC_NODE_PARAMS alloc;
};
inline constexpr int graph_node_mem_alloc = 10;
struct CUDA_ARRAY_DESCRIPTOR {
  std::size_t width, height;
  int format;
  unsigned channels;
};
struct CUDA_ARRAY3D_DESCRIPTOR {
  std::size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
struct cudaChannelFormatDesc {
  int bits[4];
  int kind;
};
inline constexpr unsigned array_sparse = 0x40, array_deferred_mapping = 0x80;
struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
  int type;
  void* handle[2];
  unsigned long long size;
};
struct CUDA_EXTERNAL_MEMORY_BUFFER_DESC {
  unsigned long long offset, size;
};
struct CUarrayMapInfo {
  int resource_type;
  void* resource;
  int subresource_type;
  std::uint64_t subresource[4];
  int operation, handle_type;
  CUmemGenericAllocationHandle handle;
  unsigned long long offset;
  unsigned devices, flags, reserved[2];
};
inline constexpr int subresource_sparse_level = 0, operation_map = 1;

inline constexpr int cuda_success = 0;
// CUDA_ERROR_NOT_FOUND and cudaErrorSymbolNotFound alike, and CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND and
// cudaErrorSharedObjectSymbolNotFound alike.
inline constexpr int cuda_not_found = 500, cuda_symbol_not_found = 302;
inline constexpr int cuda_not_permitted = 800;  // in a callback of the driver's

// CU_STREAM_PER_THREAD: what a per-thread form means by the null stream.
inline constexpr std::uintptr_t stream_per_thread = 2;

}  // namespace gpumem
