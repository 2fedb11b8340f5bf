// A library that finds the driver by itself, and makes the session that the route_* programs share.
#include "driver_session.hpp"

extern "C" void run_session() {
  session(driver_by_dlsym());
  // Its C library may be another one than the program's.
  std::fflush(stdout);
}
