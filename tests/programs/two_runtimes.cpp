// Two runtimes in one process, each with its own last error: two_runtimes linked|looked_up FIRST SECOND
//
// `linked`: the files are libraries that are linked with a runtime; `looked_up`: they are runtimes.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace {

struct User {
  void (*use_runtime)(std::size_t);
  int (*fail)();
  int (*last_error)();
};

template <typename Function>
Function find(void* library, const char* symbol) {
  return reinterpret_cast<Function>(dlsym(library, symbol));
}

// Once for each of two files, because the functions of a User have no argument for it.
template <int number>
struct LookedUp {
  static inline void* library = nullptr;

  static int allocate(void** block, std::size_t bytes) {
    return find<int (*)(void**, std::size_t)>(library, "cudaMalloc")(block, bytes);
  }
  static void use_runtime(std::size_t bytes) {
    int version = 0;
    void* block = nullptr;
    std::printf("version: %d", find<int (*)(int*)>(library, "cudaRuntimeGetVersion")(&version));
    std::printf(" %d\n", version);
    std::printf("takes %zu: %d\n", bytes, allocate(&block, bytes));
    std::printf("frees it: %d\n", find<int (*)(void*)>(library, "cudaFree")(block));
  }
  static int fail() {
    void* block = nullptr;
    return allocate(&block, std::size_t{1} << 50);
  }
  static int last_error() { return find<int (*)()>(library, "cudaGetLastError")(); }
};

template <int number>
User user_of(const char* file, bool linked) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::printf("%s\n", dlerror()), User{};
  LookedUp<number>::library = library;
  if (!linked) return {LookedUp<number>::use_runtime, LookedUp<number>::fail, LookedUp<number>::last_error};
  return {find<void (*)(std::size_t)>(library, "use_runtime"), find<int (*)()>(library, "fail"),
          find<int (*)()>(library, "last_error")};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const bool linked = std::strcmp(argv[1], "linked") == 0;
  const User first = user_of<1>(argv[2], linked), second = user_of<2>(argv[3], linked);
  if (first.fail == nullptr || second.fail == nullptr) return 2;
  first.use_runtime(12007);
  second.use_runtime(13007);
  first.last_error(), second.last_error();
  std::printf("the first fails: %d\n", first.fail());
  std::printf("last error of the second: %d\n", second.last_error());
  std::printf("last error of the first: %d\n", first.last_error());
  std::printf("the second fails: %d\n", second.fail());
  std::printf("last error of the first: %d\n", first.last_error());
  std::printf("last error of the second: %d\n", second.last_error());
}
