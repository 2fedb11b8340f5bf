// Reaches the driver through the runtime's resolver: route_entry_point any|by_version
#include <cuda_runtime_api.h>

#include <cstring>

#include "driver_session.hpp"

int main(int argc, char** argv) {
  const bool by_version = argc > 1 && std::strcmp(argv[1], "by_version") == 0;
  session(driver_by([by_version](const char* name, int version, const char*) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult status;
    // A context by the plain name of today would be another ABI; none of the session's calls has changed since.
    const auto code = by_version ? cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &status)
                                 : cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &status);
    return code == cudaSuccess && status == cudaDriverEntryPointSuccess ? found : nullptr;
  }));
}
