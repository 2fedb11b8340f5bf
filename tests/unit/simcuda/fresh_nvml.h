// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fresh_driver.h"
#include "nvml/api.h"

namespace simcuda::test {

/// A simulated NVML of its own, as fresh_driver is for CUDA.
class fresh_nvml {
 public:
  explicit fresh_nvml(const std::string& script_text = "");

  void* symbol(const char* name) const;

  template <class Signature>
  Signature* entry(const char* name) const {
    return reinterpret_cast<Signature*>(symbol(name));
  }

  /// Starts it, too.
  nvml::gpu* device(unsigned index) const;

 private:
  void* library_;
};

}  // namespace simcuda::test

#define NVML(library, name, ...) static_cast<int>((library).entry<simcuda::nvml::signature::name>(#name)(__VA_ARGS__))
