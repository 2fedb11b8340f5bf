// Fails, and is what it says before and after: first_failures WAY…
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "driver_calls.hpp"

namespace {

void start() { std::printf("cuInit: %d\n", CU(cuInit)(0)); }

void count_devices() {
  int count = 0;
  std::printf("cuDeviceGetCount: %d\n", CU(cuDeviceGetCount)(&count));
}

void make_context() {
  CUcontext context = nullptr;
  std::printf("cuCtxCreate: %d\n", CU(cuCtxCreate_v2)(&context, 0, 0));
}

void allocate() {
  CUdeviceptr block = 0;
  std::printf("cuMemAlloc: %d\n", CU(cuMemAlloc_v2)(&block, 4099));
}

void free_nothing() { std::printf("cuMemFree: %d\n", CU(cuMemFree_v2)(4096)); }

void load_code() {
  CUmodule module = nullptr;
  std::printf("cuModuleLoadData: %d\n", CU(cuModuleLoadData)(&module, "code"));
}

void stream() {
  CUstream made = nullptr;
  std::printf("cuStreamCreate: %d\n", CU(cuStreamCreate)(&made, 0));
}

void launch() {
  std::printf("cuLaunchKernel: %d\n", CU(cuLaunchKernel)(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
}

void set_current() { std::printf("cuCtxSetCurrent: %d\n", CU(cuCtxSetCurrent)(nullptr)); }

void call_back() {
  CU(cuLaunchHostFunc)
  (
      nullptr, [](void*) { allocate(); }, nullptr);
  must("cuCtxSynchronize", CU(cuCtxSynchronize)());
}

void change_devices() { setenv("CUDA_VISIBLE_DEVICES", "0,1,7", 1); }
void forget_order() { unsetenv("CUDA_DEVICE_ORDER"); }
void set_long_path() { setenv("LD_LIBRARY_PATH", std::string(100 << 10, 'x').c_str(), 1); }

// What follows happens in a child, whose parent only waits.
void fork_child() {
  std::fflush(stdout);
  if (fork() == 0) return;
  while (wait(nullptr) > 0) continue;
  std::exit(0);
}

constexpr Way ways[] = {
    {"start", start},
    {"count_devices", count_devices},
    {"make_context", make_context},
    {"allocate", allocate},
    {"free_nothing", free_nothing},
    {"load_code", load_code},
    {"stream", stream},
    {"launch", launch},
    {"set_current", set_current},
    {"call_back", call_back},
    {"change_devices", change_devices},
    {"forget_order", forget_order},
    {"set_long_path", set_long_path},
    {"fork", fork_child},
};

}  // namespace

int main(int argc, char** argv) {
  if (driver == nullptr) return std::printf("%s\n", dlerror()), 3;
  run_ways(ways, argv + 1, argv + argc);
}
