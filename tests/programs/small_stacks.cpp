// Allocates in threads with the smallest stack that there can be: small_stacks
#include <pthread.h>

#include <climits>

#include "driver_session.hpp"

namespace {

const DriverApi* api;
CUcontext context;

void* allocate(void*) {
  CUdeviceptr block = 0;
  api->cuCtxSetCurrent(context);
  const bool done = api->cuMemAlloc(&block, 4099) == 0 && api->cuMemFree(block) == 0;
  return done ? nullptr : &context;
}

}  // namespace

int main() {
  const DriverApi driver = driver_by_dlsym();
  api = &driver;
  context = start(driver);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(PTHREAD_STACK_MIN)) != 0) return 1;
  for (int i = 0; i < 3; ++i) {
    pthread_t thread;
    void* failed = nullptr;
    if (pthread_create(&thread, &attributes, allocate, nullptr) != 0) return 1;
    pthread_join(thread, &failed);
    if (failed != nullptr) return 1;
  }
  std::puts("allocated");
}
