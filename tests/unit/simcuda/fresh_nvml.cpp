// SPDX-License-Identifier: Apache-2.0
#include "fresh_nvml.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <filesystem>

#include "catch.hpp"

namespace simcuda::test {

fresh_nvml::fresh_nvml(const std::string& script_text) {
  const temporary_file script(script_text), copy("");
  std::filesystem::copy_file(SIMCUDA_NVML, copy.path(), std::filesystem::copy_options::overwrite_existing);
  library_ = dlopen(copy.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library_);
  if (script_text.empty())
    unsetenv("SIMCUDA_SCRIPT");
  else
    setenv("SIMCUDA_SCRIPT", script.path().c_str(), 1);
  int version = 0;
  NVML(*this, nvmlSystemGetCudaDriverVersion, &version);
}

void* fresh_nvml::symbol(const char* name) const {
  void* found = dlsym(library_, name);
  INFO(name);
  REQUIRE(found);
  return found;
}

nvml::gpu* fresh_nvml::device(unsigned index) const {
  nvml::gpu* found = nullptr;
  REQUIRE(NVML(*this, nvmlInit_v2) == 0);
  REQUIRE(NVML(*this, nvmlDeviceGetHandleByIndex_v2, index, &found) == 0);
  return found;
}

}  // namespace simcuda::test
