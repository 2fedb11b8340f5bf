// Another preloaded tool that stands before dlsym itself, as several GPU tools do, and says at exit how often CUDA
// names were looked up through it.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

namespace {

int lookups = 0;

__attribute__((destructor)) void say() { std::printf("dlsym interposer saw %d lookups of CUDA names\n", lookups); }

}  // namespace

// A sibling call, so that what comes next sees the real caller's address.
extern "C" void* dlsym(void* __restrict handle, const char* __restrict name) noexcept {
  static const auto next = reinterpret_cast<void* (*)(void*, const char*)>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"));
  if (std::strncmp(name, "cu", 2) == 0) ++lookups;
  return next(handle, name);
}
