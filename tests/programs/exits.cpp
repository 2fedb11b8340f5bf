// Uses CUDA and ends in one of the ways in which processes end: exits return|exit|_exit|quick_exit|abort|segfault|exec
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

#include "driver_session.hpp"

int main(int argc, char** argv) {
  const std::string_view way = argc > 1 ? argv[1] : "return";
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const DriverApi api = driver_by_dlsym();
  CUdeviceptr block = 0;
  start(api);
  say("takes 7013", api.cuMemAlloc(&block, 7013));
  std::fflush(stdout);
  if (way == "exit") std::exit(5);
  if (way == "_exit") _exit(6);
  if (way == "quick_exit") std::quick_exit(7);
  if (way == "abort") std::abort();
  if (way == "segfault") std::raise(SIGSEGV);
  if (way == "exec") execlp("sh", "sh", "-c", "echo replaced", static_cast<char*>(nullptr));
  return 4;
}
