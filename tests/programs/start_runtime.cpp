// Starts CUDA through the runtime library of a given file, whichever version it is: start_runtime LIBCUDART [FUNCTION]
//
// FUNCTION is one that writes to what it is given, and may have a device or nothing behind it; cudaFree(nullptr) if
// none is named.
#include <dlfcn.h>

#include <cstdio>

namespace {

// The same since the first CUDA.
using ErrorString = const char* (*)(int);
using First = int (*)(void*, int);

template <typename Function>
Function find(void* library, const char* symbol) {
  return reinterpret_cast<Function>(dlsym(library, symbol));
}

}  // namespace

extern "C" __attribute__((noinline)) int start_training(First function, void* room) { return function(room, 0); }

int main(int argc, char** argv) {
  static char room[4096];
  void* const library = argc >= 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) return 2;
  const auto function = find<First>(library, argc > 2 ? argv[2] : "cudaFree");
  const auto text = find<ErrorString>(library, "cudaGetErrorString");
  if (function == nullptr || text == nullptr) return 2;
  const int code = start_training(function, argc > 2 ? room : nullptr);
  std::printf("%d %s\n", code, text(code));
  return code ? 1 : 0;
}
