// SPDX-License-Identifier: Apache-2.0
// What the code that nvcc generates calls: registration before main, and kernel launches by <<<…>>>.
#include <vector>

#include "runtime/api.h"
#include "runtime/program_code.h"
#include "runtime/start.h"

namespace simcuda {
namespace {

/// nvcc's wrapper of a device image: a magic number, a version, and the image itself.
struct image_wrapper {
  int magic;
  int version;
  const void* image;
  void* file;
};

constexpr int wrapper_magic = 0x466243b1;

/// What <<<…>>> pushes before the arguments are evaluated, and the stub of the kernel pops.
struct call_configuration {
  dimensions grid;
  dimensions block;
  std::size_t shared_bytes;
  stream* queue;
};

std::vector<call_configuration>& configurations() {
  thread_local std::vector<call_configuration> stack;
  return stack;
}

program_code::image* image_of(void** handle) { return reinterpret_cast<program_code::image*>(handle); }

}  // namespace

extern "C" {

[[gnu::visibility("default")]] void** __cudaRegisterFatBinary(void* fat_binary) {
  const auto* wrapper = static_cast<const image_wrapper*>(fat_binary);
  const void* image = wrapper->magic == wrapper_magic ? wrapper->image : fat_binary;
  return reinterpret_cast<void**>(program_code::instance().add_image(image));
}

[[gnu::visibility("default")]] void __cudaRegisterFatBinaryEnd(void**) {}

[[gnu::visibility("default")]] void __cudaUnregisterFatBinary(void** handle) {
  program_code::instance().remove_image(image_of(handle));
}

[[gnu::visibility("default")]] void __cudaRegisterFunction(void** handle, const char* host_function, char*,
                                                           const char* name, int, void*, void*, dimensions*,
                                                           dimensions*, int*) {
  program_code::instance().add_kernel(image_of(handle), host_function, name);
}

[[gnu::visibility("default")]] void __cudaRegisterVar(void** handle, char* host_variable, char*, const char* name, int,
                                                      std::size_t bytes, int, int) {
  program_code::instance().add_variable(image_of(handle), host_variable, name, bytes);
}

[[gnu::visibility("default")]] void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*,
                                                             const char* name, int, std::size_t bytes, int, int) {
  program_code::instance().add_managed_variable(image_of(handle), host_pointer, name, bytes);
}

// Host code is about to use a managed variable.
[[gnu::visibility("default")]] char __cudaInitModule(void**) {
  return enter("__cudaInitModule", need::context, [] { return program_code::instance().place_managed_variables(); }) ==
         status::success;
}

[[gnu::visibility("default")]] unsigned __cudaPushCallConfiguration(dimensions grid, dimensions block,
                                                                    std::size_t shared_bytes, stream* queue) {
  configurations().push_back({grid, block, shared_bytes, queue});
  return 0;
}

[[gnu::visibility("default")]] status __cudaPopCallConfiguration(dimensions* grid, dimensions* block,
                                                                 std::size_t* shared_bytes, void* queue) {
  auto& stack = configurations();
  if (stack.empty()) return status::invalid_configuration;
  const call_configuration& top = stack.back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<stream**>(queue) = top.queue;
  stack.pop_back();
  return status::success;
}

#if SIMCUDA_RUNTIME_VERSION >= 12000
[[gnu::visibility("default")]] status __cudaGetKernel(kernel** out, const void* host_function) {
  return enter("__cudaGetKernel", need::start, [&] { return runtime_api::cudaGetKernel(out, host_function); });
}
#endif

[[gnu::visibility("default")]] status __cudaLaunchKernel(kernel* code, dimensions grid, dimensions block,
                                                         void** parameters, std::size_t shared_bytes, stream* queue) {
  return enter("__cudaLaunchKernel", need::context,
               [&] { return runtime_api::cudaLaunchKernel(code, grid, block, parameters, shared_bytes, queue); });
}

[[gnu::visibility("default")]] status __cudaLaunchKernel_ptsz(kernel* code, dimensions grid, dimensions block,
                                                              void** parameters, std::size_t shared_bytes,
                                                              stream* queue) {
  return enter("__cudaLaunchKernel_ptsz", need::context,
               [&] { return runtime_api::cudaLaunchKernel(code, grid, block, parameters, shared_bytes, queue); });
}

}  // extern "C"
}  // namespace simcuda
