// Every intercepted runtime function, with the arguments that a program should give it and with those it should not:
// conformance_runtime [LIBCUDART [careful]]
#include <cstring>
#include "runtime_themes.hpp"

namespace {

// As large as those of any version.
struct Properties {
  char bytes[4096];
};

void devices() {
  Output<int> count;
  cuda.call("cudaGetDeviceCount", "normal", &count);
  count.print();
  cuda.call("cudaGetDeviceCount", "no output", static_cast<int*>(nullptr));
  last_error();
  cuda.call("cudaSetDevice", "device 99", 99);
  cuda.call("cudaSetDevice", "device -1", -1);
  last_error();
  cuda.call("cudaSetDevice", "device 0", 0);
  cuda.call("cudaInitDevice", "device 99", 99, 0u, 0u);
  last_error();
  cuda.call("cudaInitDevice", "device 0", 0, 0u, 0u);
  std::size_t total = 0;
  cuda.call("cudaSetDeviceFlags", "usual", 0u);
  cuda.call("cudaSetDeviceFlags", "unknown flags", ~0u);
  cuda.get<std::size_t>("cudaMemGetInfo", "usual", &total);
  cuda.get<int>("cudaGetDevice", "usual");
  constexpr int multiprocessors = 16, no_attribute = 9999;
  for (const int device : {0, 99}) {
    cuda.get<int>("cudaDeviceGetAttribute", "usual", multiprocessors, device);
    cuda.get<Properties>("cudaGetDeviceProperties", "usual", device);
    cuda.get<Properties>("cudaGetDeviceProperties_v2", "usual", device);
  }
  cuda.get<int>("cudaDeviceGetAttribute", "no attribute", no_attribute, 0);
  int greatest = 0;
  cuda.get<int>("cudaDeviceGetStreamPriorityRange", "usual", &greatest);
  for (const char* symbol : {"cudaDeviceSynchronize", "cudaThreadSynchronize"}) cuda.call(symbol, "usual");
  last_error();
  constexpr int heap = 2;
  cuda.call("cudaDeviceSetLimit", "a larger heap", heap, std::size_t{64} << 20);
  cuda.call("cudaDeviceSetLimit", "no limit", 99, std::size_t{1});
  for (const int peer : {1, 1, 99}) cuda.call("cudaDeviceEnablePeerAccess", "usual", peer, 0u);
  last_error();
}

void entry_point(const char* symbol, const char* name) {
  Output<void*> function;
  Output<int> status;
  cuda.call(symbol, name, name, &function, 0ull, &status);
  std::printf("    %s\n", function.get() ? "an address" : "null");
  status.print();
  last_error();
}

void entry_point_by_version(const char* symbol, const char* name, unsigned version) {
  Output<void*> function;
  Output<int> status;
  cuda.call(symbol, name, name, &function, version, 0ull, &status);
  std::printf("    %s\n", function.get() ? "an address" : "null");
  status.print();
  last_error();
}

}  // namespace

int main(int argc, char** argv) {
  Library::is_careful = argc > 2 && std::strcmp(argv[2], "careful") == 0;
  cuda = Library(argc > 1 ? argv[1] : "libcudart.so.13");
  cuda.call("cudaRuntimeGetVersion", "usual", &version);
  cuda.print_missing("cudaNoSuchFunction");
  cuda.call("cudaFree", "null, to start", Handle{});
  last_error();
  devices();
  memory();
  foreign_memory();
  graphs();
  code_and_streams();
  for (const char* name : {"cuMemAlloc", "cuMemAllocAsync", "cuNoSuchFunction"}) {
    entry_point("cudaGetDriverEntryPoint", name);
    entry_point("cudaGetDriverEntryPoint_ptsz", name);
    entry_point_by_version("cudaGetDriverEntryPointByVersion", name, 12000);
    entry_point_by_version("cudaGetDriverEntryPointByVersion_ptsz", name, 3020);
  }
  Output<Handle> dropped;
  cuda.call("cudaMalloc", "5003 bytes that end with the device", &dropped, std::size_t{5003});
  cuda.call("cudaDeviceReset", "with a live block");
  cuda.call("cudaFree", "the block that is gone", dropped.get());
  last_error();
  cuda.call("cudaThreadExit", "the old name of a reset");
}
