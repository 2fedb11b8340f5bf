// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/types.h"

namespace simcuda {

/// What nvcc's generated code registers before main: device images, their kernels and variables. An image becomes code
/// of the driver at first use. Thread-safe; never holds its lock while it calls the driver.
class program_code {
 public:
  struct image;

  static program_code& instance();

  image* add_image(const void* fat_binary);
  void remove_image(image* gone);
  void add_kernel(image* in, const void* host_function, const char* name);
  void add_variable(image* in, const void* host_variable, const char* name, std::size_t bytes);
  /// host_pointer is the variable through which host code reaches the managed memory.
  void add_managed_variable(image* in, void** host_pointer, const char* name, std::size_t bytes);

  /// The kernel behind a host function, before CUDA 12 a function under that type: 98 when it was never registered.
  status find_kernel(const void* host_function, kernel*& out);
  /// The device address of a variable: 13 when it was never registered. Needs a current context.
  status find_variable(const void* host_variable, device_ptr& address, std::size_t& bytes);
  /// A new context: gives every managed variable its memory and tells the host code. Needs a current context.
  status place_managed_variables();

 private:
  struct symbol {
    image* in;
    std::string name;
    std::size_t bytes;
  };

  status load(image& wanted, library*& out);
  template <class LookUp>
  status in_module(image& of, LookUp look_up);
  void unload(const image& gone);
  status locate(const symbol& wanted, kernel*& out);
  status locate(const symbol& wanted, bool managed, device_ptr& address);

  std::mutex mutex_;
  std::vector<std::unique_ptr<image>> images_;
  std::unordered_map<const void*, symbol> kernels_;
  std::unordered_map<const void*, symbol> variables_;
  std::unordered_map<void**, symbol> managed_;
};

struct program_code::image {
  const void* fat_binary;
  library* loaded = nullptr;
  std::map<context*, code_module*> modules = {};  // before CUDA 12
};

}  // namespace simcuda
