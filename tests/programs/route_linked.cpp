// Reaches the driver as a program linked with -lcuda does; with the argument "default" by asking the global scope.
#include <cstring>

#include "driver_session.hpp"

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "default") == 0) {
    session(driver_by_dlsym(RTLD_DEFAULT));
    return 0;
  }
  DriverApi linked;
#define LINK(name, version, symbol) linked.name = &::name;
  SESSION_CALLS(LINK)
  session(linked);
}
