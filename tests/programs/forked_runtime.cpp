// The runtime starts CUDA, and a forked child tries to use it.
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

int main() {
  int count = 0;
  void* block = nullptr;
  std::printf("cudaGetDeviceCount: %d\n", cudaGetDeviceCount(&count));
  std::fflush(stdout);
  if (fork() == 0) return std::printf("cudaMalloc: %d\n", cudaMalloc(&block, 4099)), 0;
  wait(nullptr);
}
