// SPDX-License-Identifier: Apache-2.0
// Modules, libraries, kernels, launches. Any image is accepted and a kernel does nothing.
#include <unistd.h>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

constexpr int file_not_found = 301;

/// Runs the body with the machine when the handle is alive.
template <class Handle, class Body>
status with_code(Handle* handle, Body body) {
  const locked_machine sim;
  return sim->code.contains(handle) ? body(*sim) : status::invalid_handle;
}

bool is_kernel(machine& sim, const function* handle) {
  return sim.code.contains(reinterpret_cast<const kernel*>(handle));
}

status readable(const char* path) {
  if (!path) return status::invalid_value;
  return access(path, R_OK) == 0 ? status::success : static_cast<status>(file_not_found);
}

/// A launch may be given a function or a kernel; a kernel's code is loaded into the context now.
status launch(function* target, bool has_threads, stream* queue) {
  const locked_machine sim;
  if (!sim->usable(queue)) return status::invalid_handle;
  const bool is_loaded = sim->code.contains(target);
  if (!is_loaded && !is_kernel(*sim, target)) return status::invalid_handle;
  if (!has_threads) return status::invalid_value;
  bool captured = false;
  const status queued = sim->queue_work(queue, node_type::kernel, nullptr, captured);
  if (queued != status::success || is_loaded) return queued;
  code_module* loaded = nullptr;
  return sim->code.materialize(reinterpret_cast<kernel*>(target)->owner, loaded);
}

/// Attributes of a function as a small kernel has them, unless the program has set another value.
status read_function_attribute(const std::map<int, int>& changed, int attribute, int* value) {
  constexpr int defaults[] = {1024, 0, 0, 0, 32, 90, 90, 0, 49152, -1, 0, 0, 0, 0, 0, 0};
  if (!value || attribute < 0 || std::cmp_greater_equal(attribute, std::size(defaults))) return status::invalid_value;
  const auto found = changed.find(attribute);
  *value = found != changed.end() ? found->second : defaults[attribute];
  return status::success;
}

status global_of(machine& sim, device_ptr* out, std::size_t* bytes, code_module* in, const char* name, bool managed) {
  device_ptr address = 0;
  std::size_t size = 0;
  const status result = sim.code.find_global(in, name, managed, address, size);
  if (result != status::success) return result;
  if (out) *out = address;
  if (bytes) *bytes = size;
  return status::success;
}

status library_global(device_ptr* out, std::size_t* bytes, library* in, const char* name, bool managed) {
  if (!name) return status::invalid_value;
  return with_code(in, [&](machine& sim) {
    code_module* loaded = nullptr;
    const status result = sim.code.materialize(in, loaded);
    return result == status::success ? global_of(sim, out, bytes, loaded, name, managed) : result;
  });
}

}  // namespace

status cuModuleLoadData(code_module** out, const void* image) {
  if (!out || !image) return status::invalid_value;
  const locked_machine sim;
  return sim->code.load(*out);
}

status cuModuleLoad(code_module** out, const char* path) {
  const status found = readable(path);
  return found == status::success ? cuModuleLoadData(out, path) : found;
}

status cuModuleLoadDataEx(code_module** out, const void* image, unsigned, int*, void**) {
  return cuModuleLoadData(out, image);
}

status cuModuleUnload(code_module* target) {
  return with_code(target, [&](machine& sim) {
    sim.code.unload(target);
    return status::success;
  });
}

status cuModuleGetFunction(function** out, code_module* target, const char* name) {
  if (!out || !name) return status::invalid_value;
  return with_code(target, [&](machine& sim) {
    *out = sim.code.find_function(target, name);
    return status::success;
  });
}

status cuModuleGetGlobal_v2(device_ptr* out, std::size_t* bytes, code_module* target, const char* name) {
  if (!name) return status::invalid_value;
  return with_code(target, [&](machine& sim) { return global_of(sim, out, bytes, target, name, false); });
}

status cuLibraryLoadData(library** out, const void* image, int*, void**, unsigned, int*, void**, unsigned) {
  if (!out || !image) return status::invalid_value;
  const locked_machine sim;
  *out = sim->code.add_library();
  return status::success;
}

status cuLibraryLoadFromFile(library** out, const char* path, int*, void**, unsigned, int*, void**, unsigned) {
  const status found = readable(path);
  return found == status::success ? cuLibraryLoadData(out, path, nullptr, nullptr, 0, nullptr, nullptr, 0) : found;
}

status cuLibraryUnload(library* target) {
  return with_code(target, [&](machine& sim) {
    sim.code.unload(target);
    return status::success;
  });
}

status cuLibraryGetKernel(kernel** out, library* target, const char* name) {
  if (!out || !name) return status::invalid_value;
  return with_code(target, [&](machine& sim) {
    *out = sim.code.find_kernel(target, name);
    return status::success;
  });
}

status cuLibraryGetModule(code_module** out, library* target) {
  if (!out) return status::invalid_value;
  return with_code(target, [&](machine& sim) { return sim.code.materialize(target, *out); });
}

status cuLibraryGetGlobal(device_ptr* out, std::size_t* bytes, library* target, const char* name) {
  return library_global(out, bytes, target, name, false);
}

status cuLibraryGetManaged(device_ptr* out, std::size_t* bytes, library* target, const char* name) {
  return library_global(out, bytes, target, name, true);
}

status cuKernelGetFunction(function** out, kernel* target) {
  if (!out) return status::invalid_value;
  return with_code(target, [&](machine& sim) {
    code_module* loaded = nullptr;
    const status result = sim.code.materialize(target->owner, loaded);
    if (result == status::success) *out = sim.code.find_function(loaded, target->name.c_str());
    return result;
  });
}

status cuKernelGetName(const char** name, kernel* target) {
  if (!name) return status::invalid_value;
  return with_code(target, [&](machine&) {
    *name = target->name.c_str();
    return status::success;
  });
}

status cuKernelGetLibrary(library** out, kernel* target) {
  if (!out) return status::invalid_value;
  return with_code(target, [&](machine&) {
    *out = target->owner;
    return status::success;
  });
}

status cuKernelGetAttribute(int* value, int attribute, kernel* target, device_ordinal) {
  return with_code(target, [&](machine&) { return read_function_attribute(target->attributes, attribute, value); });
}

status cuKernelSetAttribute(int attribute, int value, kernel* target, device_ordinal) {
  return with_code(target, [&](machine&) {
    target->attributes[attribute] = value;
    return status::success;
  });
}

status cuFuncGetAttribute(int* value, int attribute, function* target) {
  const locked_machine sim;
  if (sim->code.contains(target)) return read_function_attribute(target->attributes, attribute, value);
  if (!is_kernel(*sim, target)) return status::invalid_handle;
  return read_function_attribute(reinterpret_cast<kernel*>(target)->attributes, attribute, value);
}

status cuFuncSetAttribute(function* target, int attribute, int value) {
  const locked_machine sim;
  if (sim->code.contains(target))
    target->attributes[attribute] = value;
  else if (is_kernel(*sim, target))
    reinterpret_cast<kernel*>(target)->attributes[attribute] = value;
  else
    return status::invalid_handle;
  return status::success;
}

status cuFuncSetCacheConfig(function* target, int) {
  const locked_machine sim;
  return sim->code.contains(target) || is_kernel(*sim, target) ? status::success : status::invalid_handle;
}

status cuFuncLoad(function* target) { return cuFuncSetCacheConfig(target, 0); }

status cuFuncGetModule(code_module** out, function* target) {
  if (!out) return status::invalid_value;
  return with_code(target, [&](machine&) {
    *out = target->owner;
    return status::success;
  });
}

status cuFuncGetName(const char** name, function* target) {
  if (!name) return status::invalid_value;
  return with_code(target, [&](machine&) {
    *name = target->name.c_str();
    return status::success;
  });
}

status cuLaunchKernel(function* target, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned, stream* queue, void**, void**) {
  return launch(target, grid_x && grid_y && grid_z && block_x && block_y && block_z, queue);
}

status cuLaunchKernelEx(const launch_configuration* wanted, function* target, void** parameters, void** extra) {
  if (!wanted) return status::invalid_value;
  return cuLaunchKernel(target, wanted->grid_x, wanted->grid_y, wanted->grid_z, wanted->block_x, wanted->block_y,
                        wanted->block_z, wanted->shared_bytes, wanted->stream, parameters, extra);
}

status cuLaunchCooperativeKernel(function* target, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned shared_bytes, stream* queue,
                                 void** parameters) {
  return cuLaunchKernel(target, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, queue, parameters,
                        nullptr);
}

}  // namespace simcuda::api
