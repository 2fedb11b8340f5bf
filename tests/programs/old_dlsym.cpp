// Refers to dlsym by its first version, as libraries do that were linked before glibc 2.34.
#include "driver_session.hpp"

#if defined(__x86_64__)
extern "C" void* first_dlsym(void*, const char*);
__asm__(".symver first_dlsym,dlsym@GLIBC_2.2.5");
#else
#define first_dlsym dlsym
#endif

int main() {
  void* const library = open_driver();
  session(driver_by([library](const char*, int, const char* symbol) { return first_dlsym(library, symbol); }));
}
