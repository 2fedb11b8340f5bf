// A library whose names only look like CUDA's, and which looks itself up.
#include <dlfcn.h>

extern "C" int cudnnCreate(void** handle) {
  static int state = 0;
  *handle = &state;
  return dlsym(RTLD_DEFAULT, "cudnnDestroy") == nullptr ? 1 : 0;
}
extern "C" int cudnnDestroy(void*) { return 0; }
