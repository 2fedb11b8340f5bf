// Opens a library and calls its math_create(): uses_library FILE
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  void* const library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::printf("%s\n", dlerror()), 2;
  std::printf("math_create: %d\n", reinterpret_cast<int (*)()>(dlsym(library, "math_create"))());
}
