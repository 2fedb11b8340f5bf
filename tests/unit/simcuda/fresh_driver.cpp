// SPDX-License-Identifier: Apache-2.0
#include "fresh_driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "catch.hpp"

namespace simcuda::test {

temporary_file::temporary_file(const std::string& text)
    : path_(std::filesystem::temp_directory_path() / "simcuda-XXXXXX") {
  const int fd = mkstemp(path_.data());
  REQUIRE(fd >= 0);
  REQUIRE(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  close(fd);
}

temporary_file::~temporary_file() { std::filesystem::remove(path_); }

fresh_driver::fresh_driver(const std::string& script_text) {
  const temporary_file script(script_text);
  const temporary_file copy("");
  std::filesystem::copy_file(SIMCUDA_DRIVER, copy.path(), std::filesystem::copy_options::overwrite_existing);
  library_ = dlopen(copy.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  INFO(dlerror());
  REQUIRE(library_);
  // Read at the first call, which is made here so that the file may go.
  if (script_text.empty())
    unsetenv("SIMCUDA_SCRIPT");
  else
    setenv("SIMCUDA_SCRIPT", script.path().c_str(), 1);
  const char* name = nullptr;
  entry<signature::cuGetErrorName>("cuGetErrorName")(status::success, &name);
}

void* fresh_driver::symbol(const char* name) const {
  void* found = dlsym(library_, name);
  INFO(name);
  REQUIRE(found);
  return found;
}

context* fresh_driver::start(int device) const {
  context* made = nullptr;
  REQUIRE(CU(*this, cuInit, 0) == 0);
  REQUIRE(CU(*this, cuCtxCreate_v2, &made, 0, device) == 0);
  return made;
}

std::size_t fresh_driver::free_bytes() const {
  std::size_t free = 0, total = 0;
  REQUIRE(CU(*this, cuMemGetInfo_v2, &free, &total) == 0);
  return free;
}

}  // namespace simcuda::test
