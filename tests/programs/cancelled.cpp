// A thread whose cancellation is pending calls CUDA, which knows no cancellation points; another goes on after it.
#include <pthread.h>

#include "driver_session.hpp"

namespace {

DriverApi api;

void* pending(void*) {
  pthread_cancel(pthread_self());
  CUcontext context = start(api);
  for (int i = 0; i < 2000; ++i) {
    CUdeviceptr block = 0;
    if (api.cuCtxSetCurrent(context) || api.cuMemAlloc(&block, 1009) || api.cuMemFree(block)) std::exit(1);
  }
  std::printf("reached the end\n");
  pthread_testcancel();
  return nullptr;
}

void* after(void*) {
  session(api);
  return nullptr;
}

bool was_cancelled(void* (*body)(void*)) {
  pthread_t thread;
  void* result = nullptr;
  pthread_create(&thread, nullptr, body, nullptr);
  pthread_join(thread, &result);
  return result == PTHREAD_CANCELED;
}

}  // namespace

int main() {
  // printf is a cancellation point where it writes; here it only fills a buffer.
  static char buffer[1 << 16];
  std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  api = driver_by_dlsym();
  std::printf("%d\n", was_cancelled(pending));
  std::printf("%d\n", was_cancelled(after));
}
