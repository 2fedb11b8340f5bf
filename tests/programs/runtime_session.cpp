// Every kind of memory through the runtime library of a given file, whichever version it is: runtime_session LIBCUDART
// Sizes are odd, so that each names its allocation.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

void* library = nullptr;

// All of these have been the same since CUDA 11.2.
template <typename... Arguments>
void call(const char* symbol, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, symbol));
  if (function == nullptr) std::exit(2);
  std::printf("%s: %d\n", symbol, function(arguments...));
}

}  // namespace

int main(int argc, char** argv) {
  library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) return 2;
  void *kept = nullptr, *freed = nullptr, *managed = nullptr, *pinned = nullptr, *ordered = nullptr, *none = nullptr;
  void* const no_stream = nullptr;
  call("cudaMalloc", &kept, std::size_t{10007});
  call("cudaMalloc", &freed, std::size_t{20011});
  call("cudaMallocManaged", &managed, std::size_t{30011}, 1u);
  call("cudaMallocHost", &pinned, std::size_t{40009});
  call("cudaMallocAsync", &ordered, std::size_t{50021}, no_stream);
  call("cudaMalloc", &none, (std::size_t{1} << 50) + 17);
  call("cudaFree", freed);
  call("cudaFree", managed);
  call("cudaFreeHost", pinned);
  call("cudaFreeAsync", ordered, no_stream);
}
