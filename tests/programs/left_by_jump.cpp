// A call of CUDA that blocks is left by a jump out of a signal handler; then CUDA is used from deeper in the stack.
#include <sys/time.h>
#include <csetjmp>
#include <csignal>
#include <cstring>

#include "driver_session.hpp"

namespace {

sigjmp_buf before_call;

void leave(int) { siglongjmp(before_call, 1); }

__attribute__((noinline)) int deeper(const DriverApi& api, int levels) {
  volatile char room[512];
  std::memset(const_cast<char*>(room), 0x5a, sizeof room);
  CUdeviceptr block = 0;
  int code = levels > 0 ? deeper(api, levels - 1) : api.cuMemAlloc(&block, 4001);
  for (const char byte : room) code += byte == 0x5a ? 0 : 1000;
  return code;
}

}  // namespace

int main() {
  const DriverApi api = driver_by_dlsym();
  start(api);
  std::signal(SIGALRM, leave);
  if (sigsetjmp(before_call, 1) == 0) {
    const itimerval soon{{0, 0}, {0, 100'000}};
    setitimer(ITIMER_REAL, &soon, nullptr);
    CUdeviceptr block = 0;
    api.cuMemAlloc(&block, 3001);
    std::puts("the call returned");
  } else {
    std::puts("the call was left");
  }
  std::printf("deeper: %d\n", deeper(api, 8));
}
