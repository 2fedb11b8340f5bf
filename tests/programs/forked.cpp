// A process forks: forked idle|uses_cuda|first_in_child|outlives
//
// After `uses_cuda` the child calls a driver that its parent had started, and is refused; after `first_in_child` the
// child is the first to start CUDA, and the parent never does. After `outlives` the parent kills itself, and the child
// lives on.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

#include "driver_session.hpp"

namespace {

void use_cuda(const DriverApi& api, const char* step, std::size_t bytes) {
  CUdeviceptr block = 0;
  start(api);
  say(step, api.cuMemAlloc(&block, bytes));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "idle";
  const DriverApi api = driver_by_dlsym();
  if (mode != "first_in_child") use_cuda(api, "parent takes 8209", 8209);
  std::fflush(stdout);
  if (const pid_t pid = fork(); pid == 0) {
    if (mode == "outlives") return sleep(60);
    if (mode != "idle") use_cuda(api, "child takes 4099", 4099);
    std::fflush(stdout);
    return 0;
  } else {
    if (mode == "outlives") raise(SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    std::printf("child ended with %d\n", status);
  }
  CUdeviceptr after = 0;
  if (mode != "first_in_child") say("parent takes 16411", api.cuMemAlloc(&after, 16411));
}
