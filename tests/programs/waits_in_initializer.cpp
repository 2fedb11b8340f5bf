// Its initializer, which the loader runs under its lock, waits for a thread that uses CUDA.
#include <cuda.h>

#include <cstdio>
#include <thread>


static int initializer_result = -1;

__attribute__((constructor)) static void wait_for_worker() {
  std::thread worker([] { initializer_result = cuInit(0); });
  worker.join();
}

extern "C" int math_create() { return initializer_result; }
