// Compares the rows of cuda_api.def with the toolkit's headers, as the ABI sees them: number of parameters, the size of
// each, and whether it is a pointer. Compiling this file is the test.

// Makes cuda.h declare every ABI under its exported name instead of renaming the newest.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <type_traits>

namespace rows {

// The shim's own types, without what cuda.h defines under the same names.
using CUresult = int;
using cudaError_t = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = void*;
using CUstream = void*;
using CUmemoryPool = void*;
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
#define PER_THREAD_FORM(function) extern "C" decltype(function) function##_ptsz
PER_THREAD_FORM(cudaMallocAsync);
PER_THREAD_FORM(cudaMallocFromPoolAsync);
PER_THREAD_FORM(cudaFreeAsync);
PER_THREAD_FORM(cudaGetDriverEntryPoint);
PER_THREAD_FORM(cudaGetDriverEntryPointByVersion);

#define CUDA_API(ret, symbol, params, args, effect) \
  static_assert(SameAbi<decltype(rows::symbol), decltype(::symbol)>::value, #symbol " differs from the header");
#include "api/cuda_api.def"
#undef CUDA_API

#define DRIVER_ERROR(number, name) static_assert(name == number);
#define RUNTIME_ERROR(number, name) static_assert(name == number);
#include "api/error_codes.def"
