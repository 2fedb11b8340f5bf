// SPDX-License-Identifier: Apache-2.0
// Device memory is host memory, so a copy is a copy. It runs outside the lock, like a real one beside other calls.
#include <algorithm>
#include <cstring>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

void* pointer_to(device_ptr address) { return reinterpret_cast<void*>(address); }

bool on_device(device_ptr address, std::size_t bytes) {
  const locked_machine sim;
  return sim->blocks.covers(address, bytes);
}

/// Unified addressing: a pointer that CUDA does not know is ordinary host memory.
bool plausible(device_ptr address, std::size_t bytes) {
  if (!address) return false;
  const locked_machine sim;
  const block* found = sim->blocks.containing(address);
  return !found || sim->blocks.covers(address, bytes);
}

status copy(void* target, const void* source, std::size_t bytes, bool addresses_are_valid) {
  if (!bytes) return status::success;
  if (!target || !source || !addresses_are_valid) return status::invalid_value;
  std::memmove(target, source, bytes);
  return status::success;
}

/// The stream of an asynchronous call must exist; the work itself is done before the call returns.
/// In a capture it becomes a node that does the work at every launch, so it holds its arguments by value.
template <class Work>
status queued(stream* queue, int type, Work work) {
  {
    const locked_machine sim;
    bool captured = false;
    const status result = sim->queue_work(
        queue, type, [work] { work(); }, captured);
    if (result != status::success || captured) return result;
  }
  return work();
}

template <class Element>
status fill(device_ptr target, Element value, std::size_t count) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, sizeof(Element), &bytes)) return status::invalid_value;
  if (!count) return status::success;
  if (target % sizeof(Element) || !on_device(target, bytes)) return status::invalid_value;
  std::fill_n(static_cast<Element*>(pointer_to(target)), count, value);
  return status::success;
}

/// An array is its memory, row by row. false: there is no such array, or nothing behind it.
bool resolve_array(copy_side& side) {
  if (side.type != memory_type::array) return true;
  const locked_machine sim;
  if (!sim->arrays.contains(side.array) || !side.array->memory) return false;
  side.type = memory_type::device;
  side.device = side.array->memory;
  side.pitch = row_bytes(side.array->about);
  return side.x_bytes <= side.pitch;
}

/// The first byte of one side of a two-dimensional copy; nullptr when it cannot be one.
char* first_byte(const copy_side& side) {
  const std::size_t offset = side.y * side.pitch + side.x_bytes;
  switch (side.type) {
    case memory_type::host: return side.host ? static_cast<char*>(side.host) + offset : nullptr;
    case memory_type::device:
    case memory_type::unified: return side.device ? static_cast<char*>(pointer_to(side.device)) + offset : nullptr;
    case memory_type::array: break;
  }
  return nullptr;
}

bool plausible_side(const copy_side& side, const char* first, const copy_2d& of) {
  const std::size_t bytes = of.height ? (of.height - 1) * side.pitch + of.width_bytes : 0;
  const auto address = reinterpret_cast<device_ptr>(first);
  return side.type == memory_type::device ? on_device(address, bytes) : plausible(address, bytes);
}

}  // namespace

status cuMemcpy(device_ptr target, device_ptr source, std::size_t bytes) {
  return copy(pointer_to(target), pointer_to(source), bytes, plausible(target, bytes) && plausible(source, bytes));
}

status cuMemcpyAsync(device_ptr target, device_ptr source, std::size_t bytes, stream* queue) {
  return queued(queue, node_type::memcpy, [=] { return cuMemcpy(target, source, bytes); });
}

status cuMemcpyHtoD_v2(device_ptr target, const void* source, std::size_t bytes) {
  return copy(pointer_to(target), source, bytes, on_device(target, bytes));
}

status cuMemcpyHtoDAsync_v2(device_ptr target, const void* source, std::size_t bytes, stream* queue) {
  return queued(queue, node_type::memcpy, [=] { return cuMemcpyHtoD_v2(target, source, bytes); });
}

status cuMemcpyDtoH_v2(void* target, device_ptr source, std::size_t bytes) {
  return copy(target, pointer_to(source), bytes, on_device(source, bytes));
}

status cuMemcpyDtoHAsync_v2(void* target, device_ptr source, std::size_t bytes, stream* queue) {
  return queued(queue, node_type::memcpy, [=] { return cuMemcpyDtoH_v2(target, source, bytes); });
}

status cuMemcpyDtoD_v2(device_ptr target, device_ptr source, std::size_t bytes) {
  return copy(pointer_to(target), pointer_to(source), bytes, on_device(target, bytes) && on_device(source, bytes));
}

status cuMemcpyDtoDAsync_v2(device_ptr target, device_ptr source, std::size_t bytes, stream* queue) {
  return queued(queue, node_type::memcpy, [=] { return cuMemcpyDtoD_v2(target, source, bytes); });
}

status cuMemcpy2D_v2(const copy_2d* described) {
  if (!described) return status::invalid_value;
  copy_2d resolved = *described;
  if (!resolve_array(resolved.source) || !resolve_array(resolved.target)) return status::invalid_value;
  const auto& [source, target, width_bytes, height] = resolved;
  if (!width_bytes || !height) return status::success;
  const char* from = first_byte(source);
  char* to = first_byte(target);
  if (!from || !to || !plausible_side(source, from, resolved) || !plausible_side(target, to, resolved)) {
    return status::invalid_value;
  }
  for (std::size_t row = 0; row < height; ++row) {
    std::memmove(to + row * target.pitch, from + row * source.pitch, width_bytes);
  }
  return status::success;
}

status cuMemcpy2DAsync_v2(const copy_2d* wanted, stream* queue) {
  if (!wanted) return status::invalid_value;
  return queued(queue, node_type::memcpy, [copy = *wanted] { return cuMemcpy2D_v2(&copy); });
}

status cuMemsetD8_v2(device_ptr target, unsigned char value, std::size_t count) { return fill(target, value, count); }
status cuMemsetD16_v2(device_ptr target, unsigned short value, std::size_t count) { return fill(target, value, count); }
status cuMemsetD32_v2(device_ptr target, unsigned value, std::size_t count) { return fill(target, value, count); }

status cuMemsetD8Async(device_ptr target, unsigned char value, std::size_t count, stream* queue) {
  return queued(queue, node_type::memset, [=] { return fill(target, value, count); });
}

status cuMemsetD16Async(device_ptr target, unsigned short value, std::size_t count, stream* queue) {
  return queued(queue, node_type::memset, [=] { return fill(target, value, count); });
}

status cuMemsetD32Async(device_ptr target, unsigned value, std::size_t count, stream* queue) {
  return queued(queue, node_type::memset, [=] { return fill(target, value, count); });
}

}  // namespace simcuda::api
