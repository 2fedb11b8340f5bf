// SPDX-License-Identifier: Apache-2.0
// The idiom by which programs start CUDA, and what the runtime says of it.
#include <cstdio>

int main() {
  const cudaError_t first = cudaFree(nullptr);
  const cudaError_t again = cudaFree(nullptr);
  std::printf("%d %s %s\n", static_cast<int>(first), cudaGetErrorString(first), first == again ? "again" : "changed");
}
