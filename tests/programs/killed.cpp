// Allocates and frees in several threads until it is killed: killed FILE
//
// FILE is a shared mapping. A thread counts there what it has done after each call has returned, so whoever reads the
// file after the kill knows what must have been recorded.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "acknowledged.hpp"
#include "driver_session.hpp"

namespace {

void loop(const DriverApi& api, CUcontext context, AcknowledgedWork& done, std::size_t bytes) {
  done.thread = gettid();
  if (api.cuCtxSetCurrent(context)) return;
  for (;;) {
    CUdeviceptr kept = 0, freed = 0;
    if (api.cuMemAlloc(&kept, bytes)) return;
    ++done.allocations;
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

  const DriverApi api = driver_by_dlsym();
  const CUcontext context = start(api);
  std::thread threads[acknowledging_threads];
  for (int i = 0; i < acknowledging_threads; ++i)
    threads[i] = std::thread([&, i] { loop(api, context, work[i], 1009 + 2 * static_cast<std::size_t>(i)); });
  for (auto& thread : threads) thread.join();
}
