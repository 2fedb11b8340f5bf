// Starts CUDA in the customary way and says what came of it.
#include <cstdio>

extern "C" __attribute__((noinline)) int start_training() { return cudaFree(nullptr); }

int main() {
    const int code = start_training();
    std::printf("%d %s\n", code, cudaGetErrorString(static_cast<cudaError_t>(code)));
    return code ? 1 : 0;
}
