// Sixteen threads that allocate on two devices and free each other's blocks: memory_storm SECONDS
//
// Everything is freed in the end. Prints how many blocks there were, and what went wrong.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

void* const library = dlopen("libcuda.so.1", RTLD_NOW);
#define CU(name) reinterpret_cast<decltype(&::name)>(dlsym(library, #name))

constexpr int thread_count = 16, devices = 2;
constexpr std::size_t page = 2u << 20;

struct Block {
  int kind = 0;
  CUdeviceptr address = 0;
  CUmemGenericAllocationHandle handle = 0;
};

class Exchange {
 public:
  void put(const Block& block) {
    std::lock_guard guard(lock_);
    blocks_.push_back(block);
  }
  bool take(std::mt19937& random, Block& block) {
    std::lock_guard guard(lock_);
    if (blocks_.empty()) return false;
    std::swap(blocks_[random() % blocks_.size()], blocks_.back());
    block = blocks_.back();
    blocks_.pop_back();
    return true;
  }
  std::size_t size() {
    std::lock_guard guard(lock_);
    return blocks_.size();
  }

 private:
  std::mutex lock_;
  std::vector<Block> blocks_;
};

Exchange exchange;
CUcontext contexts[devices];
std::atomic<unsigned long> made{0}, troubles{0};

void check(const char* what, CUresult code) {
  if (code != CUDA_SUCCESS && troubles.fetch_add(1) < 10) std::printf("%s: %d\n", what, static_cast<int>(code));
}

enum Kind { linear, managed, async, pinned, physical, event, kinds };

bool make(int kind, std::size_t size, CUstream stream, int device, Block& block) {
  block = {};
  block.kind = kind;
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  void* host = nullptr;
  CUevent happening = nullptr;
  switch (block.kind) {
    case linear: return CU(cuMemAlloc_v2)(&block.address, size) == CUDA_SUCCESS;
    case managed: return CU(cuMemAllocManaged)(&block.address, size, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS;
    case async: return CU(cuMemAllocAsync)(&block.address, size, stream) == CUDA_SUCCESS;
    case pinned:
      if (CU(cuMemHostAlloc)(&host, size, 0) != CUDA_SUCCESS) return false;
      block.address = reinterpret_cast<CUdeviceptr>(host);
      return true;
    case event:
      if (CU(cuEventCreate)(&happening, 0) != CUDA_SUCCESS) return false;
      block.address = reinterpret_cast<CUdeviceptr>(happening);
      return true;
    default: break;
  }
  if (CU(cuMemCreate)(&block.handle, page, &properties, 0) != CUDA_SUCCESS) return false;
  check("cuMemAddressReserve", CU(cuMemAddressReserve)(&block.address, page, 0, 0, 0));
  check("cuMemMap", CU(cuMemMap)(block.address, page, 0, block.handle, 0));
  check("cuMemRelease", CU(cuMemRelease)(block.handle));
  return true;
}

void end(const Block& block, CUstream stream) {
  switch (block.kind) {
    case linear:
    case managed: return check("cuMemFree", CU(cuMemFree_v2)(block.address));
    case async: return check("cuMemFreeAsync", CU(cuMemFreeAsync)(block.address, stream));
    case pinned: return check("cuMemFreeHost", CU(cuMemFreeHost)(reinterpret_cast<void*>(block.address)));
    case event: return check("cuEventDestroy", CU(cuEventDestroy_v2)(reinterpret_cast<CUevent>(block.address)));
    default: break;
  }
  check("cuMemUnmap", CU(cuMemUnmap)(block.address, page));
  check("cuMemAddressFree", CU(cuMemAddressFree)(block.address, page));
}

void work(unsigned number, std::chrono::steady_clock::time_point stop) {
  std::mt19937 random(number);
  CUstream streams[devices] = {};
  for (int device = 0; device < devices; ++device) {
    check("cuCtxSetCurrent", CU(cuCtxSetCurrent)(contexts[device]));
    check("cuStreamCreate", CU(cuStreamCreate)(&streams[device], CU_STREAM_NON_BLOCKING));
  }
  // So that a failure is looked into while the others go on.
  CUdeviceptr too_much = 0;
  if (CU(cuMemAlloc_v2)(&too_much, std::size_t{1} << 50) == CUDA_SUCCESS) ++troubles;
  Block block;
  for (unsigned round = 0; std::chrono::steady_clock::now() < stop; ++round) {
    const int device = static_cast<int>(random() % devices);
    check("cuCtxSetCurrent", CU(cuCtxSetCurrent)(contexts[device]));
    if (exchange.size() < 500 &&
        make(static_cast<int>(random() % kinds), 256 + random() % 100000, streams[device], device, block))
      ++made, exchange.put(block);
    if (random() % 2 && exchange.take(random, block)) end(block, streams[device]);
    // In bursts, so that a minute of it stays a journal that can be read.
    if (round % 8 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  while (exchange.take(random, block)) end(block, streams[0]);
  for (int device = 0; device < devices; ++device) check("cuStreamDestroy", CU(cuStreamDestroy_v2)(streams[device]));
}

}  // namespace

int main(int argc, char** argv) {
  if (!library || argc != 2) return std::printf("usage: memory_storm SECONDS\n"), 3;
  check("cuInit", CU(cuInit)(0));
  for (int device = 0; device < devices; ++device)
    check("cuDevicePrimaryCtxRetain", CU(cuDevicePrimaryCtxRetain)(&contexts[device], device));
  const auto stop = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[1]));
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < thread_count; ++i) threads.emplace_back(work, i, stop);
  for (auto& thread : threads) thread.join();
  // Alone, one of each: what is live after it is what is live of all.
  for (int device = 0; device < devices; ++device) {
    check("cuCtxSetCurrent", CU(cuCtxSetCurrent)(contexts[device]));
    Block block;
    for (int kind = 0; kind < kinds; ++kind)
      if (make(kind, 256, nullptr, device, block)) ++made, end(block, nullptr);
  }
  std::printf("%s, %lu troubles\n", made > 100 ? "enough blocks" : "too few blocks", troubles.load());
  std::fprintf(stderr, "%lu", made.load());
  return troubles == 0 ? 0 : 1;
}
