// SPDX-License-Identifier: Apache-2.0
// A runtime of each version over the simulated driver, loaded as programs load it: what differs between them.
// Arguments: the major version, a file for the trace.
#include <cstdlib>
#include <fstream>
#include <string>

#include "loaded_runtime.h"

namespace {

struct dimensions {
  unsigned x, y, z;
};

void use_code() {
  static const struct {
    int magic, version;
    const void* image;
    void* file;
  } wrapper{0x466243b1, 1, "image", nullptr};
  static char kernel, variable;
  const auto add_image = reinterpret_cast<void** (*)(const void*)>(dlsym(runtime, "__cudaRegisterFatBinary"));
  const auto add_kernel =
      reinterpret_cast<void (*)(void**, const void*, const char*, const char*, int, void*, void*, void*, void*, int*)>(
          dlsym(runtime, "__cudaRegisterFunction"));
  const auto add_variable =
      reinterpret_cast<void (*)(void**, void*, const char*, const char*, int, std::size_t, int, int)>(
          dlsym(runtime, "__cudaRegisterVar"));
  void** image = add_image(&wrapper);
  add_kernel(image, &kernel, "work", "work", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  add_variable(image, &variable, "value", "value", 0, 4, 0, 0);
  const dimensions one{1, 1, 1};
  int value = 42, back = 0, attributes[64] = {};
  const std::size_t bytes = sizeof value, none = 0;
  void* const no_arguments = nullptr;
  const auto launch = [&](const void* code) {
    return call("cudaLaunchKernel", code, one, one, no_arguments, none, no_arguments);
  };
  EXPECT(launch(&kernel) == 0);
  EXPECT(launch(&variable) == 98);
  EXPECT(call("cudaMemcpyToSymbol", static_cast<const void*>(&variable), static_cast<const void*>(&value), bytes, none,
              1) == 0);
  EXPECT(call("cudaMemcpyFromSymbol", static_cast<void*>(&back), static_cast<const void*>(&variable), bytes, none, 2) ==
         0);
  EXPECT(back == 42);
  EXPECT(call("cudaFuncGetAttributes", static_cast<void*>(attributes), static_cast<const void*>(&kernel)) == 0);
  EXPECT(call("cudaDeviceReset") == 0);
  EXPECT(launch(&kernel) == 0);
  reinterpret_cast<void (*)(void**)>(dlsym(runtime, "__cudaUnregisterFatBinary"))(image);
}

void use_memory() {
  void *block = nullptr, *ordered = nullptr, *array = nullptr;
  const std::size_t bytes = 4096;
  EXPECT(call("cudaMalloc", &block, bytes) == 0 && block);
  EXPECT(call("cudaMemset", block, 7, bytes) == 0);
  EXPECT(call("cudaFree", block) == 0);
  EXPECT(call("cudaMallocAsync", &ordered, bytes, static_cast<void*>(nullptr)) == 0 && ordered);
  EXPECT(call("cudaFreeAsync", ordered, static_cast<void*>(nullptr)) == 0);
  const int floats[5] = {32, 0, 0, 0, 2};
  EXPECT(call("cudaMallocArray", &array, floats, bytes, std::size_t{1}, 0u) == 0);
  EXPECT(call("cudaFreeArray", array) == 0);
  EXPECT(call("cudaMalloc", &block, std::size_t{1} << 50) == 2);
  EXPECT(call("cudaGetLastError") == 2);
}

/// 12 was the first to start the device when it is chosen.
void choose_device(int major) {
  const auto driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto state = reinterpret_cast<int (*)(int, unsigned*, int*)>(dlsym(driver, "cuDevicePrimaryCtxGetState"));
  unsigned flags = 0;
  int active = -1;
  EXPECT(call("cudaSetDevice", 0) == 0 && state(0, &flags, &active) == 0 && active == (major >= 12));
  EXPECT(call("cudaFree", static_cast<void*>(nullptr)) == 0 && state(0, &flags, &active) == 0 && active == 1);
}

void find_entry_points(int major) {
  void* entry = nullptr;
  int found = -1;
  const unsigned long long flags = 0;
  if (major == 11) {
    EXPECT(call("cudaGetDriverEntryPoint", "cuMemAlloc", &entry, flags) == 0 && entry);
    EXPECT(call("cudaGetDriverEntryPoint", "cuNothing", &entry, flags) == 500);
  } else {
    EXPECT(call("cudaGetDriverEntryPoint", "cuMemAlloc", &entry, flags, &found) == 0 && entry && found == 0);
    EXPECT(call("cudaGetDriverEntryPoint", "cuNothing", &entry, flags, &found) == 0 && !entry && found == 1);
  }
}

/// The newest version that the runtime asked the resolver for.
int newest_look_up(const char* trace) {
  std::ifstream lines(trace);
  int newest = 0;
  for (std::string line; std::getline(lines, line);) {
    char name[128];
    int version = 0;
    if (std::sscanf(line.c_str(), "lookup %127s %d", name, &version) == 2 && version > newest) newest = version;
  }
  return newest;
}

}  // namespace

int main(int, char** arguments) {
  const int major = std::atoi(arguments[1]);
  const std::string name = runtime_name(arguments[1]);
  std::remove(arguments[2]);
  setenv("SIMCUDA_TRACE", arguments[2], 1);
  runtime = dlopen(name.c_str(), RTLD_NOW);
  EXPECT(runtime && dlvsym(runtime, "cudaMalloc", name.c_str()));
  int version = 0;
  EXPECT(call("cudaRuntimeGetVersion", &version) == 0 && version / 1000 == major);
  EXPECT(!dlsym(runtime, "cudaGetDeviceProperties_v2") == (major != 12));
  EXPECT(!dlsym(runtime, "cudaThreadExit") == (major == 13));
  choose_device(major);
  use_memory();
  find_entry_points(major);
  use_code();
  EXPECT(newest_look_up(arguments[2]) <= version);
  return failures;
}
