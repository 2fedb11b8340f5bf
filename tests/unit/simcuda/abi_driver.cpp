// SPDX-License-Identifier: Apache-2.0
// Compiled where the toolkit's headers are: the simulated driver's prototypes and structures against cuda.h.
#define __CUDA_API_VERSION_INTERNAL  // declares every version of a function under its exported name, without macros
#include <cuda.h>
#include <cudaProfiler.h>

// The headers of these include those of the graphics APIs.
extern "C" {
CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource*, unsigned buffer, unsigned flags);
CUresult cuGraphicsGLRegisterImage(CUgraphicsResource*, unsigned image, unsigned target, unsigned flags);
CUresult cuGraphicsEGLRegisterImage(CUgraphicsResource*, void* image, unsigned flags);
CUresult cuGraphicsVDPAURegisterVideoSurface(CUgraphicsResource*, unsigned surface, unsigned flags);
CUresult cuGraphicsVDPAURegisterOutputSurface(CUgraphicsResource*, unsigned surface, unsigned flags);
}

#include "abi.h"
#include "driver/api.h"

#define API_AS(export, body, gate, parameters, arguments) \
  static_assert(simcuda::test::same_abi<simcuda::signature::export, decltype(::export)>, #export);
#include "driver/api.def"

static_assert(sizeof(simcuda::copy_2d) == sizeof(CUDA_MEMCPY2D));
static_assert(sizeof(simcuda::pool_properties) == sizeof(CUmemPoolProps));
static_assert(sizeof(simcuda::launch_configuration) == sizeof(CUlaunchConfig));
static_assert(sizeof(simcuda::context_parameters) == sizeof(CUctxCreateParams));
static_assert(sizeof(simcuda::allocation_properties) == sizeof(CUmemAllocationProp));
static_assert(sizeof(simcuda::array_description) == sizeof(CUDA_ARRAY_DESCRIPTOR));
static_assert(sizeof(simcuda::array_description_3d) == sizeof(CUDA_ARRAY3D_DESCRIPTOR));
static_assert(sizeof(simcuda::array_requirements) == sizeof(CUDA_ARRAY_MEMORY_REQUIREMENTS));
static_assert(sizeof(simcuda::allocation_node) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
static_assert(sizeof(simcuda::generic_node) == sizeof(CUgraphNodeParams));
static_assert(sizeof(simcuda::instantiation) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS));
static_assert(sizeof(simcuda::multicast_properties) == sizeof(CUmulticastObjectProp));
static_assert(sizeof(simcuda::array_mapping) == sizeof(CUarrayMapInfo));
static_assert(offsetof(simcuda::array_mapping, memory) == offsetof(CUarrayMapInfo, memHandle));
static_assert(sizeof(simcuda::sparse_properties) == sizeof(CUDA_ARRAY_SPARSE_PROPERTIES));
static_assert(sizeof(simcuda::external_memory_description) == sizeof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC));
static_assert(sizeof(simcuda::external_buffer_description) == sizeof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC));
static_assert(sizeof(simcuda::external_array_description) == sizeof(CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC));
static_assert(sizeof(simcuda::device_resource) == sizeof(CUdevResource));
static_assert(offsetof(simcuda::device_resource, multiprocessors) == offsetof(CUdevResource, sm));
static_assert(sizeof(simcuda::ipc_handle) == sizeof(CUmemPoolPtrExportData));
static_assert(sizeof(simcuda::ipc_handle) == sizeof(CUipcMemHandle));
static_assert(sizeof(simcuda::access_description) == sizeof(CUmemAccessDesc));
