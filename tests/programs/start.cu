// Starts CUDA in the customary way and says what came of it: start_* [VARIABLE VALUE], set before the start
#include <cstdio>
#include <cstdlib>

extern "C" __attribute__((noinline)) int start_training() { return cudaFree(nullptr); }

int main(int argc, char** argv) {
  if (argc == 3) setenv(argv[1], argv[2], 1);
  const int code = start_training();
  std::printf("%d %s\n", code, cudaGetErrorString(static_cast<cudaError_t>(code)));
  return code ? 1 : 0;
}
