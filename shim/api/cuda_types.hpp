// CUDA's types as the ABI sees them. The shim includes no CUDA header: those rename functions by macro.
//
// A test includes the toolkit's headers and compares every row of cuda_api.def with them.
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
using cuuint64_t = std::uint64_t;

// Structures and enumerations that the shim only passes on.
using OpaquePointer = void*;

inline constexpr int cuda_success = 0;
// CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND and cudaErrorSharedObjectSymbolNotFound alike.
inline constexpr int cuda_symbol_not_found = 302;

}  // namespace gpumem
