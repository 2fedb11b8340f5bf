// Threads allocate while the process forks children that end in every way there is: fork_storm CHILDREN
//
// Each thread keeps one block and frees the others; the last line says how many calls succeeded.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "driver_session.hpp"

namespace {

constexpr int allocating_threads = 8;

void allocate(const DriverApi& api, CUcontext context, const std::atomic<bool>& stop, std::atomic<long>& allocations) {
  api.cuCtxSetCurrent(context);
  CUdeviceptr kept = 0;
  if (api.cuMemAlloc(&kept, 3001) == 0) ++allocations;
  while (!stop) {
    CUdeviceptr block = 0;
    if (api.cuMemAlloc(&block, 1009)) continue;
    ++allocations;
    api.cuMemFree(block);
    usleep(200);
  }
}

[[noreturn]] void end_child(const DriverApi& api, int number) {
  CUdeviceptr block = 0;
  if (number % 3 == 0) api.cuMemAlloc(&block, 5003);
  switch (number % 4) {
    case 0: _exit(0);
    case 1: execl("/bin/true", "true", static_cast<char*>(nullptr)); _exit(1);
    case 2: std::abort();
    default: std::exit(0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const DriverApi api = driver_by_dlsym();
  const CUcontext context = start(api);
  std::fflush(stdout);
  std::atomic<bool> stop{false};
  std::atomic<long> allocations{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < allocating_threads; ++i) threads.emplace_back([&] { allocate(api, context, stop, allocations); });
  const int children = argc > 1 ? std::atoi(argv[1]) : 20;
  int strange = 0;
  for (int number = 0; number < children; ++number) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      end_child(api, number);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const bool expected = number % 4 == 2 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT : status == 0;
    if (!expected) ++strange;
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  std::fprintf(stderr, "%ld\n", allocations.load());
  std::printf("%d children ended otherwise than they should\n", strange);
}
