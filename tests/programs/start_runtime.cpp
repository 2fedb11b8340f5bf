// Starts CUDA through the runtime library of a given file, whichever version it is: start_runtime LIBCUDART
#include <dlfcn.h>

#include <cstdio>

namespace {

// Both have been the same since the first CUDA.
using Free = int (*)(void*);
using ErrorString = const char* (*)(int);

template <typename Function>
Function find(void* library, const char* symbol) {
  return reinterpret_cast<Function>(dlsym(library, symbol));
}

}  // namespace

extern "C" __attribute__((noinline)) int start_training(Free free) { return free(nullptr); }

int main(int argc, char** argv) {
  void* const library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) return 2;
  const auto free = find<Free>(library, "cudaFree");
  const auto text = find<ErrorString>(library, "cudaGetErrorString");
  if (free == nullptr || text == nullptr) return 2;
  const int code = start_training(free);
  std::printf("%d %s\n", code, text(code));
  return code ? 1 : 0;
}
