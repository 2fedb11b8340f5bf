// A training session in CUDA C++: weights that are never freed, a peak, every kind of memory, an out-of-memory that it
// handles. Sizes are odd, so that each names its allocation.
#include <cstdio>

namespace {

void say(const char* step, cudaError_t code) {
  std::printf("%s: %d %s\n", step, static_cast<int>(code), cudaGetErrorName(code));
}

__global__ void touch(char* memory) { *memory = 1; }

}  // namespace

__attribute__((noinline)) void load_weights() {
  static void* weights = nullptr;
  say("weights", cudaMalloc(&weights, 1000003));
}

__attribute__((noinline)) void train_step(int activations) {
  void* blocks[8] = {};
  for (int i = 0; i < activations; ++i) say("activation", cudaMalloc(&blocks[i], 2000003));
  for (int i = 0; i < activations; ++i) say("free", cudaFree(blocks[i]));
}

__attribute__((noinline)) void other_kinds() {
  void *pinned = nullptr, *flagged = nullptr, *managed = nullptr, *ordered = nullptr;
  say("cudaMallocHost", cudaMallocHost(&pinned, 30011));
  say("cudaHostAlloc", cudaHostAlloc(&flagged, 40009, cudaHostAllocPortable));
  say("cudaMallocManaged", cudaMallocManaged(&managed, 50021));
  say("cudaMallocAsync", cudaMallocAsync(&ordered, 60013, nullptr));
  say("cudaFreeAsync", cudaFreeAsync(ordered, nullptr));
  say("cudaFree", cudaFree(managed));
  say("cudaFreeHost", cudaFreeHost(flagged));
  say("cudaFreeHost", cudaFreeHost(pinned));
}

__attribute__((noinline)) void look_at_code() {
  cudaFuncAttributes attributes;
  say("cudaFuncGetAttributes", cudaFuncGetAttributes(&attributes, touch));
}

__attribute__((noinline)) void evaluate() {
  void* everything = nullptr;
  say("evaluation", cudaMalloc(&everything, (1ull << 50) + 17));
  say("last error", cudaGetLastError());
  say("and then", cudaGetLastError());
}

int main(int argc, char**) {
  int devices = 0;
  say("cudaGetDeviceCount", cudaGetDeviceCount(&devices));
  say("cudaSetDevice", cudaSetDevice(0));
  load_weights();
  for (const int activations : {2, 7, 3}) train_step(activations);
  other_kinds();
  look_at_code();
  evaluate();
  // Never launched: the kernel is here so that the program registers device code, as real ones do.
  if (argc > 100) touch<<<1, 1>>>(nullptr);
}
