// A library that is linked with one runtime, whichever the build gave it.
#include <cstddef>
#include <cstdio>

extern "C" {
int cudaMalloc(void** block, std::size_t bytes);
int cudaFree(void* block);
int cudaRuntimeGetVersion(int* version);
int cudaGetLastError();

void use_runtime(std::size_t bytes) {
  int version = 0;
  void* block = nullptr;
  std::printf("version: %d", cudaRuntimeGetVersion(&version));
  std::printf(" %d\n", version);
  std::printf("takes %zu: %d\n", bytes, cudaMalloc(&block, bytes));
  std::printf("frees it: %d\n", cudaFree(block));
}
int fail() {
  void* block = nullptr;
  return cudaMalloc(&block, std::size_t{1} << 50);
}
int last_error() { return cudaGetLastError(); }
}
