// A library that exports functions of the driver and of the runtime, and hands each call on to the real one, which it
// looks for when it is first called. $CUDA_STUBS_RUNTIME is the runtime's file.
#include <dlfcn.h>

#include <cstdlib>

namespace {

void* driver() {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library;
}

void* runtime() {
  static void* const library = dlopen(getenv("CUDA_STUBS_RUNTIME"), RTLD_NOW | RTLD_LOCAL);
  return library;
}

}  // namespace

#define STUB(library, result, name, parameters, arguments, missing)                           \
  extern "C" result name parameters {                                                         \
    static const auto real = reinterpret_cast<result(*) parameters>(dlsym(library(), #name)); \
    return real ? real arguments : missing;                                                   \
  }

STUB(driver, int, cuInit, (unsigned flags), (flags), 100)
STUB(driver, int, cuDeviceGetCount, (int* count), (count), 100)
STUB(driver, int, cuDeviceGet, (int* device, int ordinal), (device, ordinal), 100)
STUB(driver, int, cuDriverGetVersion, (int* version), (version), 100)
STUB(driver, int, cuDeviceGetPCIBusId, (char* id, int length, int device), (id, length, device), 100)
STUB(driver, int, cuDeviceTotalMem_v2, (size_t * bytes, int device), (bytes, device), 100)
STUB(driver, int, cuDeviceGetName, (char* name, int length, int device), (name, length, device), 100)
STUB(driver, int, cuDevicePrimaryCtxRetain, (void** context, int device), (context, device), 100)
STUB(runtime, int, cudaGetDevice, (int* device), (device), 35)
STUB(runtime, int, cudaSetDevice, (int device), (device), 35)
STUB(runtime, int, cudaFree, (void* pointer), (pointer), 35)
STUB(runtime, int, cudaMalloc, (void** pointer, size_t bytes), (pointer, bytes), 35)
STUB(runtime, const char*, cudaGetErrorString, (int code), (code), "no runtime")
