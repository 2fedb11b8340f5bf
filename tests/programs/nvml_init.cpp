// Starts the library that describes devices, as monitors do: nvml_init
#include <dlfcn.h>

#include <cstdio>

int main() {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library == nullptr) return 2;
  const auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  const auto text = reinterpret_cast<const char* (*)(int)>(dlsym(library, "nvmlErrorString"));
  const int code = init();
  std::printf("%d %s\n", code, text(code));
}
