// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "runtime/api.h"
#include "runtime/program_code.h"
#include "runtime/start.h"

namespace simcuda::runtime_api {
namespace {

/// A program names code by its host function, or by a kernel handle that it was given before.
status find_code(const void* code, kernel*& out) {
  const status found = program_code::instance().find_kernel(code, out);
  if (found != status::invalid_device_function) return found;
  if (!driver().cuKernelGetName) return status::invalid_device_function;
  const char* name = nullptr;
  auto* candidate = static_cast<kernel*>(const_cast<void*>(code));
  if (driver().cuKernelGetName(&name, candidate) != status::success) return status::invalid_device_function;
  out = candidate;
  return status::success;
}

function* as_function(kernel* code) { return reinterpret_cast<function*>(code); }

status get_attribute(int& value, int attribute, kernel* of) {
  return driver().cuKernelGetAttribute ? driver().cuKernelGetAttribute(&value, attribute, of, current_device())
                                       : driver().cuFuncGetAttribute(&value, attribute, as_function(of));
}

/// Checks what every launch checks, and hands kernel and 32-bit size on.
template <class Launch>
status launch(const void* code, dimensions grid, dimensions block, std::size_t shared_bytes, Launch how) {
  const auto is_empty = [](dimensions of) { return !of.x || !of.y || !of.z; };
  if (is_empty(grid) || is_empty(block)) return status::invalid_configuration;
  if (shared_bytes > std::numeric_limits<unsigned>::max()) return status::invalid_value;
  kernel* found = nullptr;
  const status known = find_code(code, found);
  return known == status::success ? how(as_function(found), static_cast<unsigned>(shared_bytes)) : known;
}

}  // namespace

status cudaLaunchKernel(const void* code, dimensions grid, dimensions block, void** parameters,
                        std::size_t shared_bytes, stream* queue) {
  return launch(code, grid, block, shared_bytes, [&](function* target, unsigned bytes) {
    return driver().cuLaunchKernel(target, grid.x, grid.y, grid.z, block.x, block.y, block.z, bytes, queue, parameters,
                                   nullptr);
  });
}

status cudaLaunchCooperativeKernel(const void* code, dimensions grid, dimensions block, void** parameters,
                                   std::size_t shared_bytes, stream* queue) {
  return launch(code, grid, block, shared_bytes, [&](function* target, unsigned bytes) {
    return driver().cuLaunchCooperativeKernel(target, grid.x, grid.y, grid.z, block.x, block.y, block.z, bytes, queue,
                                              parameters);
  });
}

status cudaLaunchKernelExC(const runtime_launch* wanted, const void* code, void** parameters) {
  if (!wanted) return status::invalid_value;
  return cudaLaunchKernel(code, wanted->grid, wanted->block, parameters, wanted->shared_bytes, wanted->stream);
}

#if SIMCUDA_RUNTIME_VERSION >= 12000
status cudaGetKernel(kernel** out, const void* code) { return out ? find_code(code, *out) : status::invalid_value; }
#endif

status cudaGetFuncBySymbol(function** out, const void* code) {
  kernel* found = nullptr;
  const status known = find_code(code, found);
  if (known != status::success) return known;
  if (driver().cuKernelGetFunction) return driver().cuKernelGetFunction(out, found);
  *out = as_function(found);
  return status::success;
}

#if SIMCUDA_RUNTIME_VERSION >= 12000
status cudaFuncGetName(const char** name, const void* code) {
  kernel* found = nullptr;
  const status known = find_code(code, found);
  return known == status::success ? driver().cuKernelGetName(name, found) : known;
}
#endif

status cudaFuncGetAttributes(function_description* description, const void* code) {
  if (!description) return status::invalid_value;
  kernel* found = nullptr;
  status result = find_code(code, found);
  *description = {};
  const auto read = [&](auto& member, int attribute) {
    int value = 0;
    if (result == status::success) result = get_attribute(value, attribute, found);
    member = static_cast<std::remove_reference_t<decltype(member)>>(value);
  };
  read(description->shared_bytes, 1);
  read(description->constant_bytes, 2);
  read(description->local_bytes, 3);
  constexpr int order[] = {0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14};
  for (std::size_t index = 0; index < std::size(description->values); ++index)
    read(description->values[index], order[index]);
  return result;
}

status cudaFuncSetAttribute(const void* code, int attribute, int value) {
  kernel* found = nullptr;
  const status known = find_code(code, found);
  if (known != status::success) return known;
  return driver().cuKernelSetAttribute ? driver().cuKernelSetAttribute(attribute, value, found, current_device())
                                       : driver().cuFuncSetAttribute(as_function(found), attribute, value);
}

status cudaFuncSetCacheConfig(const void* code, int) {
  kernel* found = nullptr;
  return find_code(code, found);
}

status cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* code, int block_size,
                                                              std::size_t shared_bytes, unsigned flags) {
  kernel* found = nullptr;
  const status known = find_code(code, found);
  if (known != status::success) return known;
  return driver().cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, as_function(found), block_size,
                                                                       shared_bytes, flags);
}

status cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* code, int block_size,
                                                     std::size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, code, block_size, shared_bytes, 0);
}

}  // namespace simcuda::runtime_api
