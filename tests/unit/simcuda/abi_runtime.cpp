// SPDX-License-Identifier: Apache-2.0
// Compiled where the toolkit's headers are: the simulated runtime's prototypes and structures against the toolkit's.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda_runtime_api.h>

#include <cstddef>

// The headers of these include those of the graphics APIs.
extern "C" {
cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource**, unsigned buffer, unsigned flags);
cudaError_t cudaGraphicsGLRegisterImage(cudaGraphicsResource**, unsigned image, unsigned target, unsigned flags);
cudaError_t cudaGraphicsEGLRegisterImage(cudaGraphicsResource**, void* image, unsigned flags);
cudaError_t cudaGraphicsVDPAURegisterVideoSurface(cudaGraphicsResource**, unsigned surface, unsigned flags);
cudaError_t cudaGraphicsVDPAURegisterOutputSurface(cudaGraphicsResource**, unsigned surface, unsigned flags);
}

#include "abi.h"
#include "runtime/api.h"

#define API_AS(export, body, need, parameters, arguments) \
  static_assert(simcuda::test::same_abi<simcuda::status parameters, decltype(::export)>, #export);
namespace simcuda {
#include "runtime/api.def"
}  // namespace simcuda

#define DEVICE_PROPERTY(member, attribute) \
  static_assert(offsetof(simcuda::device_properties, member) == offsetof(cudaDeviceProp, member), #member);
#include "runtime/device_properties.def"

static_assert(sizeof(simcuda::device_properties) == sizeof(cudaDeviceProp));
static_assert(sizeof(simcuda::extent) == sizeof(cudaExtent));
static_assert(sizeof(simcuda::pitched_pointer) == sizeof(cudaPitchedPtr));
static_assert(sizeof(simcuda::channel_description) == sizeof(cudaChannelFormatDesc));
static_assert(sizeof(simcuda::array_requirements) == sizeof(cudaArrayMemoryRequirements));
static_assert(sizeof(simcuda::pointer_description) == sizeof(cudaPointerAttributes));
static_assert(sizeof(simcuda::function_description) == sizeof(cudaFuncAttributes));
static_assert(sizeof(simcuda::runtime_launch) == sizeof(cudaLaunchConfig_t));
static_assert(sizeof(simcuda::sparse_properties) == sizeof(cudaArraySparseProperties));
// Older versions end before the reserved members.
static_assert(offsetof(simcuda::external_memory_description, flags) == offsetof(cudaExternalMemoryHandleDesc, flags));
static_assert(offsetof(simcuda::external_buffer_description, flags) == offsetof(cudaExternalMemoryBufferDesc, flags));
static_assert(offsetof(simcuda::external_array_request, levels) ==
              offsetof(cudaExternalMemoryMipmappedArrayDesc, numLevels));
