// SPDX-License-Identifier: Apache-2.0
#include "runtime/api.h"
#include "runtime/program_code.h"
#include "runtime/start.h"

namespace simcuda::runtime_api {
namespace {

constexpr auto invalid_direction = static_cast<status>(21);

device_ptr address_of(const void* pointer) { return reinterpret_cast<device_ptr>(pointer); }

copy_side side(const void* pointer, std::size_t pitch, bool on_device, copy_kind kind) {
  copy_side result{};
  result.pitch = pitch;
  if (kind == copy_kind::by_address)
    result.type = memory_type::unified;
  else
    result.type = on_device ? memory_type::device : memory_type::host;
  result.host = const_cast<void*>(pointer);
  result.device = address_of(pointer);
  return result;
}

/// Runs a two-dimensional copy through the given driver call.
template <class Call>
status copy_rows(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
                 std::size_t width_bytes, std::size_t height, copy_kind kind, Call call) {
  if (kind < copy_kind::host_to_host || kind > copy_kind::by_address) return invalid_direction;
  if (width_bytes > target_pitch || width_bytes > source_pitch) return status::invalid_pitch;
  const bool to_device = kind == copy_kind::host_to_device || kind == copy_kind::device_to_device;
  const bool from_device = kind == copy_kind::device_to_host || kind == copy_kind::device_to_device;
  const copy_2d wanted{side(source, source_pitch, from_device, kind), side(target, target_pitch, to_device, kind),
                       width_bytes, height};
  return call(wanted);
}

/// Finds the variable and runs the copy with the address of its part.
template <class Copy>
status with_symbol(const void* symbol, std::size_t bytes, std::size_t offset, Copy copy) {
  device_ptr address = 0;
  std::size_t size = 0;
  const status found = program_code::instance().find_variable(symbol, address, size);
  if (found != status::success) return found;
  if (offset > size || bytes > size - offset) return status::invalid_value;
  return copy(reinterpret_cast<void*>(address + offset));
}

}  // namespace

status cudaMemcpy(void* target, const void* source, std::size_t bytes, copy_kind kind) {
  switch (kind) {
    case copy_kind::host_to_device: return driver().cuMemcpyHtoD_v2(address_of(target), source, bytes);
    case copy_kind::device_to_host: return driver().cuMemcpyDtoH_v2(target, address_of(source), bytes);
    case copy_kind::device_to_device: return driver().cuMemcpyDtoD_v2(address_of(target), address_of(source), bytes);
    case copy_kind::host_to_host:
    case copy_kind::by_address: return driver().cuMemcpy(address_of(target), address_of(source), bytes);
  }
  return invalid_direction;
}

status cudaMemcpyAsync(void* target, const void* source, std::size_t bytes, copy_kind kind, stream* queue) {
  switch (kind) {
    case copy_kind::host_to_device: return driver().cuMemcpyHtoDAsync_v2(address_of(target), source, bytes, queue);
    case copy_kind::device_to_host: return driver().cuMemcpyDtoHAsync_v2(target, address_of(source), bytes, queue);
    case copy_kind::device_to_device:
      return driver().cuMemcpyDtoDAsync_v2(address_of(target), address_of(source), bytes, queue);
    case copy_kind::host_to_host:
    case copy_kind::by_address: return driver().cuMemcpyAsync(address_of(target), address_of(source), bytes, queue);
  }
  return invalid_direction;
}

status cudaMemcpy2D(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
                    std::size_t width_bytes, std::size_t height, copy_kind kind) {
  return copy_rows(target, target_pitch, source, source_pitch, width_bytes, height, kind,
                   [](const copy_2d& wanted) { return driver().cuMemcpy2DUnaligned_v2(&wanted); });
}

status cudaMemcpy2DAsync(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
                         std::size_t width_bytes, std::size_t height, copy_kind kind, stream* queue) {
  return copy_rows(target, target_pitch, source, source_pitch, width_bytes, height, kind,
                   [queue](const copy_2d& wanted) { return driver().cuMemcpy2DAsync_v2(&wanted, queue); });
}

status cudaMemset(void* target, int value, std::size_t bytes) {
  return driver().cuMemsetD8_v2(address_of(target), static_cast<unsigned char>(value), bytes);
}

status cudaMemsetAsync(void* target, int value, std::size_t bytes, stream* queue) {
  return driver().cuMemsetD8Async(address_of(target), static_cast<unsigned char>(value), bytes, queue);
}

status cudaMemcpyToSymbol(const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                          copy_kind kind) {
  return with_symbol(symbol, bytes, offset, [&](void* part) { return cudaMemcpy(part, source, bytes, kind); });
}

status cudaMemcpyFromSymbol(void* target, const void* symbol, std::size_t bytes, std::size_t offset, copy_kind kind) {
  return with_symbol(symbol, bytes, offset, [&](void* part) { return cudaMemcpy(target, part, bytes, kind); });
}

status cudaMemcpyToSymbolAsync(const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                               copy_kind kind, stream* queue) {
  return with_symbol(symbol, bytes, offset,
                     [&](void* part) { return cudaMemcpyAsync(part, source, bytes, kind, queue); });
}

status cudaMemcpyFromSymbolAsync(void* target, const void* symbol, std::size_t bytes, std::size_t offset,
                                 copy_kind kind, stream* queue) {
  return with_symbol(symbol, bytes, offset,
                     [&](void* part) { return cudaMemcpyAsync(target, part, bytes, kind, queue); });
}

status cudaGetSymbolAddress(void** address, const void* symbol) {
  if (!address) return status::invalid_value;
  return with_symbol(symbol, 0, 0, [&](void* start) {
    *address = start;
    return status::success;
  });
}

status cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  device_ptr address = 0;
  return bytes ? program_code::instance().find_variable(symbol, address, *bytes) : status::invalid_value;
}

}  // namespace simcuda::runtime_api
