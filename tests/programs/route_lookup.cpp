// Reaches the driver without being linked with it: route_lookup dlsym|resolver|resolver_v2|resolver_from_resolver
#include <cstring>

#include "driver_session.hpp"

namespace {

// Both ABIs of cuGetProcAddress: the second one has an argument more.
DriverApi by_resolver(PFN_cuGetProcAddress_v11030 resolve) {
  return driver_by([resolve](const char* name, int version, const char*) {
    void* found = nullptr;
    if (resolve(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT)) found = nullptr;
    return found;
  });
}

DriverApi by_resolver(PFN_cuGetProcAddress_v12000 resolve) {
  return driver_by([resolve](const char* name, int version, const char*) {
    void* found = nullptr;
    CUdriverProcAddressQueryResult status;
    if (resolve(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &status)) found = nullptr;
    return found;
  });
}

template <typename Function>
Function find(void* library, const char* symbol) {
  return reinterpret_cast<Function>(dlsym(library, symbol));
}

}  // namespace

int main(int argc, char** argv) {
  const char* const route = argc > 1 ? argv[1] : "dlsym";
  void* const library = open_driver();
  const auto first = find<PFN_cuGetProcAddress_v11030>(library, "cuGetProcAddress");
  const auto second = find<PFN_cuGetProcAddress_v12000>(library, "cuGetProcAddress_v2");
  if (std::strcmp(route, "dlsym") == 0) {
    session(driver_by_dlsym(library));
  } else if (std::strcmp(route, "resolver") == 0) {
    session(by_resolver(first));
  } else if (std::strcmp(route, "resolver_v2") == 0) {
    session(by_resolver(second));
  } else {
    // This is how cudart does it: it goes on with the resolver that the resolver handed out.
    void* inner = nullptr;
    say("cuGetProcAddress", second("cuGetProcAddress", &inner, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
    session(by_resolver(reinterpret_cast<PFN_cuGetProcAddress_v12000>(inner)));
  }
}
