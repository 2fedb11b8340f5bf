// Compares the rows of cuda_api.def with the toolkit's headers, as the ABI sees them: number of parameters, the size of
// each, and whether it is a pointer. Compiling this file is the test.

#include "cuda_headers.hpp"

#include <cstddef>
#include <type_traits>

#include "api/cuda_types.hpp"
#include "rows_of_headers.hpp"

namespace rows {

// The shim's own types, without what cuda.h defines under the same names.
using CUresult = int;
using cudaError_t = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = void*;
using CUstream = void*;
using CUmemoryPool = void*;
using CUmemGenericAllocationHandle = unsigned long long;
using CUipcMemHandle = ::CUipcMemHandle;
using CUipcEventHandle = ::CUipcEventHandle;
using cudaIpcMemHandle_t = ::cudaIpcMemHandle_t;
using cudaIpcEventHandle_t = ::cudaIpcEventHandle_t;
using cudaExtent = ::cudaExtent;
using dim3 = ::dim3;
using cuuint64_t = unsigned long;
using OpaquePointer = void*;
using size_t = std::size_t;

#define CUDA_API(ret, symbol, params, args, effect) ret symbol params;
#include "api/cuda_api.def"
#undef CUDA_API

}  // namespace rows

namespace {

template <class Ours, class Theirs>
constexpr bool same_parameter = sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>;

template <class Ours, class Theirs>
struct SameAbi : std::false_type {};
template <class OurResult, class... Ours, class TheirResult, class... Theirs>
requires(sizeof...(Ours) == sizeof...(Theirs)) struct SameAbi<OurResult(Ours...), TheirResult(Theirs...)>
    : std::bool_constant<sizeof(OurResult) == sizeof(TheirResult) && (same_parameter<Ours, Theirs> && ...)> {
};

}  // namespace

// The runtime's headers name the per-thread forms only under a macro that renames the others; their types are the same.
#define PER_THREAD_FORM(form, function) extern "C" decltype(function) form;
PER_THREAD_FORMS(PER_THREAD_FORM)

// Up to CUDA 11 it had five parameters, and the row passes on as many.
#undef IN_HEADER_cudaGraphInstantiate
#define IN_HEADER_cudaGraphInstantiate 0

#define COMPARE_1(symbol) \
  static_assert(SameAbi<decltype(rows::symbol), decltype(::symbol)>::value, #symbol " differs from the header");
#define COMPARE_0(symbol)
#define COMPARE_IF(known, symbol) COMPARE_IF_EXPANDED(known, symbol)
#define COMPARE_IF_EXPANDED(known, symbol) COMPARE_##known(symbol)
#define CUDA_API(ret, symbol, params, args, effect) COMPARE_IF(IN_HEADER_##symbol, symbol)
#include "api/cuda_api.def"
#undef CUDA_API

// The structures that the shim reads, member by member.
#define SAME_SIZE(ours, theirs) static_assert(sizeof(gpumem::ours) == sizeof(::theirs));
#define SAME_MEMBER(ours, member, theirs, their_member)                               \
  static_assert(offsetof(gpumem::ours, member) == offsetof(::theirs, their_member) && \
                    sizeof(gpumem::ours::member) == sizeof(::theirs::their_member),   \
                #ours "::" #member " differs from the header");
SAME_SIZE(CUmemLocation, CUmemLocation)
SAME_MEMBER(CUmemLocation, type, CUmemLocation, type)
SAME_MEMBER(CUmemLocation, id, CUmemLocation, id)
SAME_SIZE(CUmemLocation, cudaMemLocation)
SAME_SIZE(CUmemAllocationProp, CUmemAllocationProp)
SAME_MEMBER(CUmemAllocationProp, location, CUmemAllocationProp, location)
SAME_SIZE(CUmemPoolProps, CUmemPoolProps)
SAME_MEMBER(CUmemPoolProps, location, CUmemPoolProps, location)
SAME_SIZE(CUmemPoolProps, cudaMemPoolProps)
SAME_MEMBER(CUmemPoolProps, location, cudaMemPoolProps, location)
SAME_SIZE(CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS)
SAME_MEMBER(CUDA_MEM_ALLOC_NODE_PARAMS, bytes, CUDA_MEM_ALLOC_NODE_PARAMS, bytesize)
SAME_MEMBER(CUDA_MEM_ALLOC_NODE_PARAMS, pointer, CUDA_MEM_ALLOC_NODE_PARAMS, dptr)
SAME_SIZE(CUDA_MEM_ALLOC_NODE_PARAMS, cudaMemAllocNodeParams)
SAME_MEMBER(CUDA_MEM_ALLOC_NODE_PARAMS, bytes, cudaMemAllocNodeParams, bytesize)
SAME_MEMBER(CUgraphNodeParams, type, CUgraphNodeParams, type)
SAME_MEMBER(CUgraphNodeParams, alloc, CUgraphNodeParams, alloc)
SAME_SIZE(CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY_DESCRIPTOR)
SAME_MEMBER(CUDA_ARRAY_DESCRIPTOR, height, CUDA_ARRAY_DESCRIPTOR, Height)
SAME_MEMBER(CUDA_ARRAY_DESCRIPTOR, format, CUDA_ARRAY_DESCRIPTOR, Format)
SAME_MEMBER(CUDA_ARRAY_DESCRIPTOR, channels, CUDA_ARRAY_DESCRIPTOR, NumChannels)
SAME_SIZE(CUDA_ARRAY3D_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR)
SAME_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, depth, CUDA_ARRAY3D_DESCRIPTOR, Depth)
SAME_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, format, CUDA_ARRAY3D_DESCRIPTOR, Format)
SAME_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, channels, CUDA_ARRAY3D_DESCRIPTOR, NumChannels)
SAME_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, flags, CUDA_ARRAY3D_DESCRIPTOR, Flags)
SAME_SIZE(cudaChannelFormatDesc, cudaChannelFormatDesc)
SAME_MEMBER(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size)
SAME_MEMBER(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size, cudaExternalMemoryHandleDesc, size)
SAME_MEMBER(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size, CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size)
SAME_MEMBER(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size, cudaExternalMemoryBufferDesc, size)
SAME_SIZE(CUarrayMapInfo, CUarrayMapInfo)
SAME_MEMBER(CUarrayMapInfo, resource, CUarrayMapInfo, resource)
SAME_MEMBER(CUarrayMapInfo, subresource_type, CUarrayMapInfo, subresourceType)
SAME_MEMBER(CUarrayMapInfo, operation, CUarrayMapInfo, memOperationType)
SAME_MEMBER(CUarrayMapInfo, handle, CUarrayMapInfo, memHandle)
SAME_SIZE(cudaPitchedPtr, cudaPitchedPtr)
SAME_MEMBER(cudaPitchedPtr, pitch, cudaPitchedPtr, pitch)
SAME_SIZE(cudaExtent, cudaExtent)
SAME_MEMBER(cudaExtent, depth, cudaExtent, depth)
static_assert(gpumem::location_device == CU_MEM_LOCATION_TYPE_DEVICE &&
              gpumem::location_host == CU_MEM_LOCATION_TYPE_HOST &&
              gpumem::location_host_numa == CU_MEM_LOCATION_TYPE_HOST_NUMA &&
              gpumem::location_host_numa_current == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT);
static_assert(gpumem::graph_node_mem_alloc == CU_GRAPH_NODE_TYPE_MEM_ALLOC);
static_assert(gpumem::array_sparse == CUDA_ARRAY3D_SPARSE &&
              gpumem::array_deferred_mapping == CUDA_ARRAY3D_DEFERRED_MAPPING);
static_assert(gpumem::operation_map == CU_MEM_OPERATION_TYPE_MAP &&
              gpumem::subresource_sparse_level == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL);

#define DRIVER_ERROR(number, name) static_assert(name == number);
#define RUNTIME_ERROR(number, name) static_assert(name == number);
#include "api/error_codes.def"
