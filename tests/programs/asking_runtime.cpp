// A runtime that asks for an attribute that no driver knows, goes on without it, and makes a context.
#include <dlfcn.h>

namespace {

template <class... Arguments>
int call(const char* symbol, Arguments... arguments) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<int (*)(Arguments...)>(dlsym(driver, symbol))(arguments...);
}

}  // namespace

extern "C" const char* cudaGetErrorString(int) { return "an error"; }

extern "C" int cudaFree(void*) {
  int value = 0;
  void* context = nullptr;
  if (const int code = call("cuInit", 0u)) return code;
  call("cuDeviceGetAttribute", &value, 9999, 0);
  return call("cuCtxCreate_v2", &context, 0u, 0);
}
