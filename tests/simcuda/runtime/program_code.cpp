// SPDX-License-Identifier: Apache-2.0
#include "runtime/program_code.h"

#include <optional>

#include "runtime/start.h"

namespace simcuda {
namespace {

template <class Map, class Key>
auto find_copy(std::mutex& mutex, const Map& symbols, Key key) {
  const std::lock_guard guard(mutex);
  const auto found = symbols.find(key);
  return found == symbols.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

program_code& program_code::instance() {
  static auto* const only = new program_code;
  return *only;
}

program_code::image* program_code::add_image(const void* fat_binary) {
  const std::lock_guard guard(mutex_);
  images_.push_back(std::make_unique<image>(image{fat_binary}));
  return images_.back().get();
}

void program_code::remove_image(image* gone) {
  image left{nullptr};
  {
    const std::lock_guard guard(mutex_);
    const auto inside = [gone](const auto& entry) { return entry.second.in == gone; };
    std::erase_if(kernels_, inside);
    std::erase_if(variables_, inside);
    std::erase_if(managed_, inside);
    left = *gone;
    std::erase_if(images_, [gone](const auto& one) { return one.get() == gone; });
  }
  if (!exit_began()) unload(left);
}

void program_code::add_kernel(image* in, const void* host_function, const char* name) {
  const std::lock_guard guard(mutex_);
  kernels_.insert_or_assign(host_function, symbol{in, name, 0});
}

void program_code::add_variable(image* in, const void* host_variable, const char* name, std::size_t bytes) {
  const std::lock_guard guard(mutex_);
  variables_.insert_or_assign(host_variable, symbol{in, name, bytes});
}

void program_code::add_managed_variable(image* in, void** host_pointer, const char* name, std::size_t bytes) {
  const std::lock_guard guard(mutex_);
  managed_.insert_or_assign(host_pointer, symbol{in, name, bytes});
}

status program_code::find_variable(const void* host_variable, device_ptr& address, std::size_t& bytes) {
  const auto known = find_copy(mutex_, variables_, host_variable);
  if (!known) return status::invalid_symbol;
  bytes = known->bytes;
  return locate(*known, false, address);
}

status program_code::find_kernel(const void* host_function, kernel*& out) {
  const auto known = find_copy(mutex_, kernels_, host_function);
  return known ? locate(*known, out) : status::invalid_device_function;
}

status program_code::place_managed_variables() {
  std::vector<std::pair<void**, symbol>> all;
  {
    const std::lock_guard guard(mutex_);
    all.assign(managed_.begin(), managed_.end());
  }
  for (auto& [host_pointer, variable] : all) {
    device_ptr address = 0;
    const status result = locate(variable, true, address);
    if (result != status::success) return result;
    *host_pointer = reinterpret_cast<void*>(address);
  }
  return status::success;
}

}  // namespace simcuda
