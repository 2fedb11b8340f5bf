#include "probe/nvml_api.hpp"

#include <dlfcn.h>

namespace gpumem::nvml {

Library functions_of(void* handle) {
  Library library;
#define NVML(name, parameters) \
  library.name.address = reinterpret_cast<Result(*) parameters>(::dlsym(handle, library.name.symbol));
#include "probe/nvml_functions.def"
#undef NVML
  library.nvmlErrorString = reinterpret_cast<const char* (*)(Result)>(::dlsym(handle, "nvmlErrorString"));
  return library;
}

}  // namespace gpumem::nvml
