// SPDX-License-Identifier: Apache-2.0
// Code that a program loads by itself; CUDA 11 has no such functions.
#include "runtime/api.h"
#include "runtime/start.h"

#if SIMCUDA_RUNTIME_VERSION >= 12000

namespace simcuda::runtime_api {

status cudaLibraryLoadData(library** out, const void* image, int* jit_options, void** jit_values, unsigned jit_count,
                           int* options, void** values, unsigned count) {
  return driver().cuLibraryLoadData(out, image, jit_options, jit_values, jit_count, options, values, count);
}

status cudaLibraryLoadFromFile(library** out, const char* path, int* jit_options, void** jit_values, unsigned jit_count,
                               int* options, void** values, unsigned count) {
  return driver().cuLibraryLoadFromFile(out, path, jit_options, jit_values, jit_count, options, values, count);
}

status cudaLibraryUnload(library* target) { return driver().cuLibraryUnload(target); }

status cudaLibraryGetKernel(kernel** out, library* from, const char* name) {
  return driver().cuLibraryGetKernel(out, from, name);
}

status cudaLibraryGetGlobal(void** out, std::size_t* bytes, library* from, const char* name) {
  return driver().cuLibraryGetGlobal(reinterpret_cast<device_ptr*>(out), bytes, from, name);
}

status cudaLibraryGetManaged(void** out, std::size_t* bytes, library* from, const char* name) {
  return driver().cuLibraryGetManaged(reinterpret_cast<device_ptr*>(out), bytes, from, name);
}

}  // namespace simcuda::runtime_api

#endif
