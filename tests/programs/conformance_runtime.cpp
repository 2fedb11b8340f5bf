// Every intercepted runtime function, with the arguments that a program should give it and with those it should not:
// conformance_runtime [LIBCUDART]
#include <initializer_list>

#include "conformance.hpp"

namespace {

using Pointer = void*;
using Handle = void*;
constexpr std::size_t too_much = (1ull << 50) + 17;

Library cuda;

void last_error() {
  cuda.call("cudaPeekAtLastError", "after that");
  cuda.call("cudaGetLastError", "after that");
}

template <typename... Flags>
void allocations(const char* allocate, const char* release, Flags... flags) {
  Output<Pointer> block, none, failed;
  cuda.call(allocate, "1009 bytes", &block, std::size_t{1009}, flags...);
  block.print();
  cuda.call(allocate, "no bytes", &none, std::size_t{0}, flags...);
  none.print();
  last_error();
  cuda.call(allocate, "no output", static_cast<Pointer*>(nullptr), std::size_t{64}, flags...);
  last_error();
  cuda.call(allocate, "too much", &failed, too_much, flags...);
  failed.print();
  last_error();
  cuda.call(release, "the block", block.get());
  cuda.call(release, "the block again", block.get());
  last_error();
  cuda.call(release, "null", Pointer{nullptr});
  last_error();
}

void stream_ordered(const char* allocate, const char* from_pool, const char* release) {
  Output<Handle> pool;
  Output<Pointer> block, pooled, none;
  cuda.call("cudaDeviceGetDefaultMemPool", "device 0", &pool, 0);
  cuda.call(allocate, "4001 bytes", &block, std::size_t{4001}, Handle{nullptr});
  block.print();
  cuda.call(from_pool, "4003 bytes", &pooled, std::size_t{4003}, pool.get(), Handle{nullptr});
  pooled.print();
  cuda.call(allocate, "too much", &none, too_much, Handle{nullptr});
  none.print();
  last_error();
  cuda.call(allocate, "no output", static_cast<Pointer*>(nullptr), std::size_t{64}, Handle{nullptr});
  last_error();
  cuda.call(release, "the block", block.get(), Handle{nullptr});
  cuda.call(release, "the pooled block", pooled.get(), Handle{nullptr});
  cuda.call(release, "the block again", block.get(), Handle{nullptr});
  last_error();
}

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
  cuda = Library(argc > 1 ? argv[1] : "libcudart.so.13");
  cuda.print_missing("cudaNoSuchFunction");
  cuda.call("cudaFree", "null, to start", Pointer{nullptr});
  last_error();
  devices();
  allocations("cudaMalloc", "cudaFree");
  allocations("cudaMallocManaged", "cudaFree", 1u);
  allocations("cudaMallocHost", "cudaFreeHost");
  allocations("cudaHostAlloc", "cudaFreeHost", 0u);
  stream_ordered("cudaMallocAsync", "cudaMallocFromPoolAsync", "cudaFreeAsync");
  stream_ordered("cudaMallocAsync_ptsz", "cudaMallocFromPoolAsync_ptsz", "cudaFreeAsync_ptsz");
  for (const char* name : {"cuMemAlloc", "cuMemAllocAsync", "cuNoSuchFunction"}) {
    entry_point("cudaGetDriverEntryPoint", name);
    entry_point("cudaGetDriverEntryPoint_ptsz", name);
    entry_point_by_version("cudaGetDriverEntryPointByVersion", name, 12000);
    entry_point_by_version("cudaGetDriverEntryPointByVersion_ptsz", name, 3020);
  }
  Output<Pointer> dropped;
  cuda.call("cudaMalloc", "5003 bytes that end with the device", &dropped, std::size_t{5003});
  cuda.call("cudaDeviceReset", "with a live block");
  cuda.call("cudaFree", "the block that is gone", dropped.get());
  last_error();
}
