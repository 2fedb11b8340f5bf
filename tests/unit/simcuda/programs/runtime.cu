// SPDX-License-Identifier: Apache-2.0
// A program as nvcc builds it, over the simulated runtime. Prints what is not as expected and returns how much that is.
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

__device__ int plain_variable;
__managed__ int managed_variable;
__constant__ int constants[4];

__global__ void work(int* target, int count) {
  if (threadIdx.x < count) target[threadIdx.x] = plain_variable + managed_variable + constants[0];
}

static int failures = 0;

#define EXPECT(condition)                                 \
  do {                                                    \
    if (!(condition)) {                                   \
      std::printf("line %d: %s\n", __LINE__, #condition); \
      ++failures;                                         \
    }                                                     \
  } while (0)

static void errors() {
  int* block = nullptr;
  EXPECT(cudaMalloc(&block, std::size_t{1} << 40) == cudaErrorMemoryAllocation);
  EXPECT(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
  EXPECT(cudaGetLastError() == cudaSuccess);
  EXPECT(cudaMalloc(&block, 0) == cudaSuccess && block == nullptr);
  EXPECT(cudaMalloc(static_cast<void**>(nullptr), 1) == cudaErrorInvalidValue);
  EXPECT(cudaFree(&block) == cudaErrorInvalidValue);
  EXPECT(cudaSetDevice(9) == cudaErrorInvalidDevice);
  EXPECT(std::strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
  EXPECT(std::strcmp(cudaGetErrorName(static_cast<cudaError_t>(-1)), "unrecognized error code") == 0);
  work<<<0, 32>>>(nullptr, 0);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
}

static void memory() {
  int numbers[4] = {1, 2, 3, 4}, back[4] = {};
  int* block = nullptr;
  std::size_t before = 0, after = 0, total = 0;
  EXPECT(cudaMemGetInfo(&before, &total) == cudaSuccess);
  EXPECT(cudaMalloc(&block, sizeof numbers) == cudaSuccess);
  EXPECT(cudaMemGetInfo(&after, &total) == cudaSuccess && before - after == 512);
  work<<<1, 32>>>(block, 4);
  EXPECT(cudaGetLastError() == cudaSuccess);
  EXPECT(cudaMemcpy(block, numbers, sizeof numbers, cudaMemcpyHostToDevice) == cudaSuccess);
  EXPECT(cudaMemcpy(back, block, sizeof back, cudaMemcpyDefault) == cudaSuccess && back[3] == 4);
  EXPECT(cudaMemcpy(back, block, 17, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  cudaGetLastError();
  void* ordered = nullptr;
  EXPECT(cudaMallocAsync(&ordered, 1 << 20, nullptr) == cudaSuccess);
  EXPECT(cudaFreeAsync(ordered, nullptr) == cudaSuccess);
  void* pinned = nullptr;
  EXPECT(cudaMallocHost(&pinned, 4096) == cudaSuccess && cudaFreeHost(pinned) == cudaSuccess);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(cudaFree(block) == cudaSuccess);
}

static void arrays() {
  std::size_t before = 0, after = 0, total = 0;
  EXPECT(cudaMemGetInfo(&before, &total) == cudaSuccess);
  cudaArray_t flat = nullptr, level = nullptr;
  cudaMipmappedArray_t chain = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  cudaChannelFormatDesc found{};
  cudaExtent size{};
  unsigned flags = 0;
  EXPECT(cudaMallocArray(&flat, &format, 64, 32) == cudaSuccess);
  EXPECT(cudaMemGetInfo(&after, &total) == cudaSuccess && before - after == 64 * 32 * sizeof(float2));
  EXPECT(cudaArrayGetInfo(&found, &size, &flags, flat) == cudaSuccess);
  EXPECT(found.y == 32 && found.z == 0 && found.f == cudaChannelFormatKindFloat && size.height == 32);
  EXPECT(cudaFreeArray(flat) == cudaSuccess);
  EXPECT(cudaMallocMipmappedArray(&chain, &format, make_cudaExtent(64, 64, 0), 3) == cudaSuccess);
  EXPECT(cudaGetMipmappedArrayLevel(&level, chain, 2) == cudaSuccess);
  EXPECT(cudaFreeMipmappedArray(chain) == cudaSuccess);
  cudaPitchedPtr cube{};
  EXPECT(cudaMalloc3D(&cube, make_cudaExtent(100, 2, 3)) == cudaSuccess && cube.pitch == 512);
  EXPECT(cudaFree(cube.ptr) == cudaSuccess);
}

static void symbols() {
  int value = 42, back = 0;
  EXPECT(cudaMemcpyToSymbol(plain_variable, &value, sizeof value) == cudaSuccess);
  EXPECT(cudaMemcpyFromSymbol(&back, plain_variable, sizeof back) == cudaSuccess && back == 42);
  EXPECT(cudaMemcpyToSymbol(plain_variable, &value, 8) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  managed_variable = 7;
  EXPECT(managed_variable == 7);
}

static void devices() {
  cudaDeviceProp properties{};
  int count = 0;
  EXPECT(cudaGetDeviceCount(&count) == cudaSuccess && count == 1);
  EXPECT(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  EXPECT(std::strcmp(properties.name, "SimCUDA GPU 0") == 0 && properties.warpSize == 32 && properties.major == 9);
  EXPECT(cudaDeviceReset() == cudaSuccess);
  void* block = nullptr;
  EXPECT(cudaMalloc(&block, 1) == cudaSuccess);
  managed_variable = 8;  // has memory again after the reset
  EXPECT(managed_variable == 8);
}

static void entry_points() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  EXPECT(cudaGetDriverEntryPointByVersion("cuMemAlloc", &entry, 13000, cudaEnableDefault, &found) == cudaSuccess);
  EXPECT(entry && found == cudaDriverEntryPointSuccess);
  EXPECT(cudaGetDriverEntryPointByVersion("cuMemAllocAsync", &entry, 3020, cudaEnableDefault, &found) == cudaSuccess);
  EXPECT(!entry && found == cudaDriverEntryPointVersionNotSufficent);
}

int main() {
  errors();
  memory();
  arrays();
  symbols();
  devices();
  entry_points();
  return failures;
}
