// Has a library use CUDA and closes it, long before the process ends: unloads LIBRARY
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  void* const library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::printf("%s\n", dlerror()), 2;
  reinterpret_cast<void (*)()>(dlsym(library, "run_session"))();
  std::printf("closed: %d\n", dlclose(library));
  std::printf("gone: %d\n", dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == nullptr);
}
