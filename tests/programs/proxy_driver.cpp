// A driver in front of the driver, as on systems whose libcuda.so.1 loads the real one and looks its functions up by
// name under the very names that it exports itself. REAL_DRIVER is the path of the real one.
#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>

namespace {

template <typename Function>
Function real(const char* name) {
  static void* const driver = dlopen(std::getenv("REAL_DRIVER"), RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function>(dlsym(driver, name));
}

}  // namespace

#define FORWARD(name, parameters, arguments) \
  extern "C" int name parameters { return real<int(*) parameters>(#name) arguments; }

FORWARD(cuInit, (unsigned flags), (flags))
FORWARD(cuDeviceGet, (int* device, int ordinal), (device, ordinal))
FORWARD(cuDevicePrimaryCtxRetain, (void** context, int device), (context, device))
FORWARD(cuDevicePrimaryCtxRelease_v2, (int device), (device))
FORWARD(cuCtxSetCurrent, (void* context), (context))
FORWARD(cuMemAlloc_v2, (unsigned long long* block, std::size_t bytes), (block, bytes))
FORWARD(cuMemFree_v2, (unsigned long long block), (block))
FORWARD(cuMemAllocManaged, (unsigned long long* block, std::size_t bytes, unsigned flags), (block, bytes, flags))
FORWARD(cuMemHostAlloc, (void** block, std::size_t bytes, unsigned flags), (block, bytes, flags))
FORWARD(cuMemFreeHost, (void* block), (block))
