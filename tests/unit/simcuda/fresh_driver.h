// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "driver/api.h"

namespace simcuda::test {

/// A simulated driver of its own, in its first state: every object loads another copy of the library, so that test
/// cases do not see each other's devices. The script's text is empty for the default machine.
class fresh_driver {
 public:
  explicit fresh_driver(const std::string& script_text = "");

  void* symbol(const char* name) const;

  template <class Signature>
  Signature* entry(const char* name) const {
    return reinterpret_cast<Signature*>(symbol(name));
  }

  /// cuInit and a context on the device; fails the test case when that does not work.
  context* start(int device = 0) const;

  std::size_t free_bytes() const;

 private:
  void* library_;
};

/// A file in the temporary folder with this text; removed when the object goes.
class temporary_file {
 public:
  explicit temporary_file(const std::string& text);
  ~temporary_file();
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace simcuda::test

/// Calls a driver function by its exported name and answers the code as a number.
#define CU(driver, name, ...) static_cast<int>((driver).entry<simcuda::signature::name>(#name)(__VA_ARGS__))
