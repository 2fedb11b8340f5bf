// Uses a library whose names begin like CUDA's beside CUDA itself, linked with it and by every kind of look-up.
#include "driver_session.hpp"

extern "C" int cudnnCreate(void** handle);
extern "C" int cudnnDestroy(void* handle);

namespace {

void say_place(const char* how, void* found) {
  Dl_info info{};
  const bool known = found != nullptr && dladdr(found, &info) != 0;
  std::printf("%s: %s %s\n", how, found == reinterpret_cast<void*>(&cudnnCreate) ? "same" : "other",
              known ? info.dli_fname : "nowhere");
}

}  // namespace

int main() {
  void* handle = nullptr;
  void* const library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_NOLOAD);
  std::printf("creates: %d\n", cudnnCreate(&handle));
  say_place("of the library", dlsym(library, "cudnnCreate"));
  say_place("of the global scope", dlsym(RTLD_DEFAULT, "cudnnCreate"));
  say_place("of what comes next", dlsym(RTLD_NEXT, "cudnnCreate"));
  say_place("of the driver", dlsym(open_driver(), "cudnnCreate"));
  std::printf("destroys: %d\n", cudnnDestroy(handle));
  session(driver_by_dlsym());
}
