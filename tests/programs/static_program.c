// Linked statically, as Go's programs are: there is no loader, so nothing is preloaded.
#include <stdio.h>
#include <sys/auxv.h>

int main(int argc, char** argv) {
  return printf("%s, loader: %s\n", argv[argc - 1], getauxval(AT_BASE) == 0 ? "none" : "used") < 0;
}
