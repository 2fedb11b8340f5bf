// One thread opens and closes a library again and again while others allocate: loader_storm LIBRARY ROUNDS
// [ALLOCATIONS] Both go on until there were so many rounds and so many allocations.
#include <atomic>
#include <thread>
#include <vector>

#include "driver_session.hpp"

namespace {

constexpr int allocating_threads = 3;

void allocate(const DriverApi& api, CUcontext context, const std::atomic<bool>& stop, std::atomic<long>& left,
              std::atomic<int>& failures) {
  api.cuCtxSetCurrent(context);
  while (!stop) {
    --left;
    CUdeviceptr block = 0;
    if (api.cuMemAlloc(&block, 2003) || api.cuMemFree(block)) ++failures;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const DriverApi api = driver_by_dlsym();
  const CUcontext context = start(api);
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  std::atomic<long> left{argc > 3 ? std::atol(argv[3]) : 0};
  std::vector<std::thread> threads;
  for (int i = 0; i < allocating_threads; ++i)
    threads.emplace_back([&] { allocate(api, context, stop, left, failures); });
  int missing = 0;
  for (int round = 0; round < (argc > 2 ? std::atoi(argv[2]) : 100) || left > 0; ++round) {
    void* const library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr || dlsym(library, "small_function") == nullptr || dlclose(library) != 0) ++missing;
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  std::printf("%d failures, %d libraries missing\n", failures.load(), missing);
}
