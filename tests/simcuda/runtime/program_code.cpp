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
  library* loaded = nullptr;
  {
    const std::lock_guard guard(mutex_);
    const auto inside = [gone](const auto& entry) { return entry.second.in == gone; };
    std::erase_if(kernels_, inside);
    std::erase_if(variables_, inside);
    std::erase_if(managed_, inside);
    loaded = gone->loaded;
    std::erase_if(images_, [gone](const auto& one) { return one.get() == gone; });
  }
  if (loaded && !exit_began()) driver().cuLibraryUnload(loaded);
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

status program_code::load(image& wanted, library*& out) {
  {
    const std::lock_guard guard(mutex_);
    out = wanted.loaded;
  }
  if (out) return status::success;
  const status result = driver().cuLibraryLoadData(&out, wanted.fat_binary, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (result != status::success) return result;
  library* surplus = nullptr;
  {
    const std::lock_guard guard(mutex_);
    if (wanted.loaded)
      surplus = std::exchange(out, wanted.loaded);  // another thread was faster
    else
      wanted.loaded = out;
  }
  return surplus ? driver().cuLibraryUnload(surplus) : status::success;
}

status program_code::find_kernel(const void* host_function, kernel*& out) {
  const auto known = find_copy(mutex_, kernels_, host_function);
  if (!known) return status::invalid_device_function;
  library* in = nullptr;
  const status loaded = load(*known->in, in);
  return loaded == status::success ? driver().cuLibraryGetKernel(&out, in, known->name.c_str()) : loaded;
}

status program_code::find_variable(const void* host_variable, device_ptr& address, std::size_t& bytes) {
  const auto known = find_copy(mutex_, variables_, host_variable);
  if (!known) return status::invalid_symbol;
  library* in = nullptr;
  const status loaded = load(*known->in, in);
  bytes = known->bytes;
  return loaded == status::success ? driver().cuLibraryGetGlobal(&address, nullptr, in, known->name.c_str()) : loaded;
}

status program_code::place_managed_variables() {
  std::vector<std::pair<void**, symbol>> all;
  {
    const std::lock_guard guard(mutex_);
    all.assign(managed_.begin(), managed_.end());
  }
  for (auto& [host_pointer, variable] : all) {
    library* in = nullptr;
    device_ptr address = 0;
    status result = load(*variable.in, in);
    if (result == status::success) result = driver().cuLibraryGetManaged(&address, nullptr, in, variable.name.c_str());
    if (result != status::success) return result;
    *host_pointer = reinterpret_cast<void*>(address);
  }
  return status::success;
}

}  // namespace simcuda
