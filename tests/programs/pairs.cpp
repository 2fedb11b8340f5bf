// Allocates and frees again and again: pairs COUNT
#include "driver_session.hpp"

int main(int argc, char** argv) {
  const DriverApi api = driver_by_dlsym();
  start(api);
  const long count = argc > 1 ? std::atol(argv[1]) : 1000;
  long failures = 0;
  for (long i = 0; i < count; ++i) {
    CUdeviceptr block = 0;
    if (api.cuMemAlloc(&block, 2003) || api.cuMemFree(block)) ++failures;
  }
  std::printf("%ld failures\n", failures);
}
