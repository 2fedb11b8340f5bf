// A small training session with three faults: a cache that grows with every step, one step that needs far more memory
// than the others, and an evaluation that does not fit at all.
//
// It opens the driver by itself, so it needs no toolkit and runs on any machine's libcuda.so.1. `demo --probe` ends
// with status 0 if there is a driver with a device.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

using Pointer = unsigned long long;
constexpr std::size_t mebibyte = 1 << 20;
constexpr int steps = 24;
constexpr int out_of_memory = 2;

namespace driver {

template <typename Function>
Function find(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  return library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
}

const auto init = find<int (*)(unsigned)>("cuInit");
const auto device_count = find<int (*)(int*)>("cuDeviceGetCount");
const auto retain_context = find<int (*)(void**, int)>("cuDevicePrimaryCtxRetain");
const auto set_context = find<int (*)(void*)>("cuCtxSetCurrent");
const auto memory_info = find<int (*)(std::size_t*, std::size_t*)>("cuMemGetInfo_v2");
const auto allocate = find<int (*)(Pointer*, std::size_t)>("cuMemAlloc_v2");
const auto release = find<int (*)(Pointer)>("cuMemFree_v2");

bool has_device() {
  int count = 0;
  return init && device_count && init(0) == 0 && device_count(&count) == 0 && count > 0;
}

}  // namespace driver

using Blocks = std::vector<Pointer>;

// The functions below call the driver themselves, so that reports name them and not a helper.
void require(int code) {
  if (code == 0) return;
  std::fprintf(stderr, "demo: the GPU has too little free memory (error %d)\n", code);
  std::exit(1);
}

void give_back(Blocks& blocks) {
  for (const Pointer block : blocks) driver::release(block);
  blocks.clear();
}

void load_weights(Blocks& weights) {
  for (int layer = 0; layer < 4; ++layer) require(driver::allocate(&weights.emplace_back(), 96 * mebibyte));
}

void make_activations(Blocks& activations, int batches) {
  for (int batch = 0; batch < batches; ++batch) require(driver::allocate(&activations.emplace_back(), 64 * mebibyte));
}

void cache_batch(Blocks& cache) { require(driver::allocate(&cache.emplace_back(), 8 * mebibyte)); }

// Every eighth step works on a batch that is four times as large.
void train_step(int step, Blocks& cache) {
  Blocks activations;
  make_activations(activations, step % 8 == 5 ? 8 : 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  cache_batch(cache);
  give_back(activations);
}

void save_checkpoint() {
  Blocks copy;
  require(driver::allocate(&copy.emplace_back(), 24 * mebibyte));
  give_back(copy);
}

void evaluate() {
  std::size_t free = 0, total = 0;
  driver::memory_info(&free, &total);
  Pointer everything = 0;
  const int code = driver::allocate(&everything, total + 512 * mebibyte);
  if (code == out_of_memory)
    std::puts("evaluation skipped: out of memory");
  else
    std::printf("evaluation skipped: error %d\n", code);
}

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--probe") == 0) return driver::has_device() ? 0 : 1;
  void* context = nullptr;
  if (!driver::has_device() || driver::retain_context(&context, 0) || driver::set_context(context)) {
    std::fputs("demo: CUDA does not start\n", stderr);
    return 1;
  }
  Blocks weights, cache;
  load_weights(weights);
  for (int step = 0; step < steps; ++step) train_step(step, cache);
  save_checkpoint();
  evaluate();
  give_back(weights);
  std::printf("trained %d steps\n", steps);
}
