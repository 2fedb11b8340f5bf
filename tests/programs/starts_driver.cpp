// Starts the driver twice and does nothing else.
#include <dlfcn.h>

#include <cstdio>

int main() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return std::printf("%s\n", dlerror()), 2;
  const auto start = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  for (int time = 0; time < 2; ++time) std::printf("cuInit: %d\n", start(0));
}
