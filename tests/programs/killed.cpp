// Allocates and frees in several threads until it is killed: killed FILE [KEPT]
//
// Each thread keeps KEPT blocks at most, or all that it allocates but for every other one.
// FILE is a shared mapping. A thread counts there what it has done after each call has returned, so whoever reads the
// file after the kill knows what must have been recorded.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <deque>
#include <thread>

#include "acknowledged.hpp"
#include "driver_session.hpp"

namespace {

void loop(const DriverApi& api, CUcontext context, AcknowledgedWork& done, std::size_t bytes, std::size_t most_kept) {
  done.thread = gettid();
  if (api.cuCtxSetCurrent(context)) return;
  std::deque<CUdeviceptr> kept;
  for (;;) {
    CUdeviceptr block = 0, freed = 0;
    if (api.cuMemAlloc(&block, bytes)) return;
    ++done.allocations;
    kept.push_back(block);
    if (kept.size() > most_kept) {
      if (api.cuMemFree(kept.front())) return;
      ++done.frees;
      kept.pop_front();
    }
    if (api.cuMemAlloc(&freed, bytes)) return;
    ++done.allocations;
    if (api.cuMemFree(freed)) return;
    ++done.frees;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int file = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
  if (file < 0 || ftruncate(file, sizeof(AcknowledgedWork) * acknowledging_threads)) return 2;
  void* const mapping =
      mmap(nullptr, sizeof(AcknowledgedWork) * acknowledging_threads, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapping == MAP_FAILED) return 2;
  auto* const work = static_cast<AcknowledgedWork*>(mapping);

  const std::size_t kept = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : ~std::size_t{0};
  const DriverApi api = driver_by_dlsym();
  const CUcontext context = start(api);
  std::thread threads[acknowledging_threads];
  for (int i = 0; i < acknowledging_threads; ++i)
    threads[i] = std::thread([&, i] { loop(api, context, work[i], 1009 + 2 * static_cast<std::size_t>(i), kept); });
  for (auto& thread : threads) thread.join();
}
