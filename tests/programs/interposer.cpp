// Another preloaded tool: it stands before one driver function, passes every call on, and says at exit how many it saw.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

namespace {

int calls = 0;

__attribute__((destructor)) void say() { std::printf(INTERPOSER_NAME " saw %d allocations\n", calls); }

}  // namespace

extern "C" int cuMemAlloc_v2(unsigned long long* block, std::size_t bytes) {
  static const auto next =
      reinterpret_cast<int (*)(unsigned long long*, std::size_t)>(dlsym(RTLD_NEXT, "cuMemAlloc_v2"));
  ++calls;
  return next(block, bytes);
}
