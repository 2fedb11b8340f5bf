// Starts the engine in the library of a given file: runs_engine FILE
#include <dlfcn.h>

#include <cstdio>

int main(int, char** argv) {
  void* const library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) return std::printf("%s\n", dlerror()), 2;
  std::printf("%d\n", reinterpret_cast<int (*)()>(dlsym(library, "start_engine"))());
}
