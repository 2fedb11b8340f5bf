// What an exception costs in a C program that loads C++ later, as Python does: throw_cost LIBRARY. Prints nanoseconds.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  double (*measure)(void) = library != NULL ? (double (*)(void))dlsym(library, "throw_and_catch_ns") : NULL;
  if (measure == NULL) {
    fprintf(stderr, "throw_cost: %s\n", dlerror());
    return 1;
  }
  printf("%.1f\n", measure());
  return 0;
}
