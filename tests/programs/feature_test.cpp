// Asks the global scope whether CUDA is there, as programs do that can live without it.
#include <dlfcn.h>

#include <cstdio>
#include <initializer_list>

namespace {

void ask(const char* scope, void* handle, const char* name) {
  const void* found = dlsym(handle, name);
  const char* error = dlerror();
  std::printf("%s has %s: %s, %s\n", scope, name, found ? "yes" : "no", error ? "and says why not" : "no error");
}

void ask_all(const char* when) {
  std::puts(when);
  for (const char* name : {"cuInit", "cudaMalloc", "cuGetProcAddress_v2", "no_such_function"}) {
    ask("the default scope", RTLD_DEFAULT, name);
    ask("what comes next", RTLD_NEXT, name);
    void* program = dlopen(nullptr, RTLD_NOW);
    ask("the program", program, name);
    dlclose(program);
  }
}

}  // namespace

int main() {
  ask_all("without CUDA");
  void* hidden = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  ask("the library", hidden, "cuInit");
  ask("the library", hidden, "cudaMalloc");
  ask_all("with a driver that only we know");
  dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  ask_all("with a driver for everybody");
}
