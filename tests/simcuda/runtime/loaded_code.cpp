// SPDX-License-Identifier: Apache-2.0
// How an image becomes code of the driver: a library, or before CUDA 12 a module in each context.
#include "runtime/program_code.h"
#include "runtime/start.h"

namespace simcuda {

#if SIMCUDA_RUNTIME_VERSION >= 12000

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

void program_code::unload(const image& gone) {
  if (gone.loaded) driver().cuLibraryUnload(gone.loaded);
}

status program_code::locate(const symbol& wanted, kernel*& out) {
  library* in = nullptr;
  const status loaded = load(*wanted.in, in);
  return loaded == status::success ? driver().cuLibraryGetKernel(&out, in, wanted.name.c_str()) : loaded;
}

status program_code::locate(const symbol& wanted, bool managed, device_ptr& address) {
  library* in = nullptr;
  const status loaded = load(*wanted.in, in);
  if (loaded != status::success) return loaded;
  const auto get = managed ? driver().cuLibraryGetManaged : driver().cuLibraryGetGlobal;
  return get(&address, nullptr, in, wanted.name.c_str());
}

#else

void program_code::unload(const image& gone) {
  for (const auto& [in, loaded] : gone.modules) driver().cuModuleUnload(loaded);
}

/// Looks something up in the image's module of the current context. A reset takes modules along, so one that is not
/// known any more is loaded again.
template <class LookUp>
status program_code::in_module(image& of, LookUp look_up) {
  context* current = nullptr;
  status result = driver().cuCtxGetCurrent(&current);
  for (int attempt = 0; attempt < 2 && result == status::success; ++attempt) {
    code_module* loaded = nullptr;
    {
      const std::lock_guard guard(mutex_);
      const auto known = of.modules.find(current);
      if (known != of.modules.end()) loaded = known->second;
    }
    if (!loaded) result = driver().cuModuleLoadData(&loaded, of.fat_binary);
    if (result != status::success) return result;
    result = look_up(loaded);
    const std::lock_guard guard(mutex_);
    if (result != status::invalid_handle) {
      of.modules.insert_or_assign(current, loaded);
      return result;
    }
    of.modules.erase(current);
    result = status::success;
  }
  return result == status::success ? status::invalid_handle : result;
}

status program_code::locate(const symbol& wanted, kernel*& out) {
  return in_module(*wanted.in, [&](code_module* in) {
    return driver().cuModuleGetFunction(reinterpret_cast<function**>(&out), in, wanted.name.c_str());
  });
}

status program_code::locate(const symbol& wanted, bool, device_ptr& address) {
  return in_module(*wanted.in, [&](code_module* in) {
    return driver().cuModuleGetGlobal_v2(&address, nullptr, in, wanted.name.c_str());
  });
}

#endif

}  // namespace simcuda
