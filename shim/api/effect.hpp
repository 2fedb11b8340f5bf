// What a call does to memory and contexts if it succeeds: the last column of cuda_api.def.
//
// An effect is made from the arguments before the call. It keeps out-parameters as pointers: they are read only after
// the call has succeeded, never after a failure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "track/memory_kind.hpp"

namespace gpumem {

enum class Action : std::uint8_t {
  resolve,          // hands out the address of a function
  tell_version,     // *out is the driver's version, by which a runtime decides whether it refuses the driver
  start,            // starts CUDA, or fails to
  create_context,   // *out is a new context
  retain_primary,   // *out is the device's primary context
  destroy_context,  // `address` is the handle
  release_primary,  // the device's primary context may end
  reset_primary,    // it ends
  reset_current,    // that of the current device ends
  allocate,         // *out is a block of `size` bytes
  release,          // the block at `address` ends
};

struct Effect {
  Action action = Action::start;
  MemoryKind kind = MemoryKind::device;
  int device = no_device;
  std::uint64_t size = 0;
  std::uint64_t address = 0;
  const void* out = nullptr;
  const void* stream = nullptr;
  const char* symbol = nullptr;
  int version = 0;

  std::uint64_t output() const { return out == nullptr ? 0 : *static_cast<const std::uint64_t*>(out); }
};

template <class T>
std::uint64_t as_number(T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}
inline std::uint64_t as_number(unsigned long long address) { return address; }

inline Effect resolves(void** out, const char* symbol, int version = 0) {
  return {.action = Action::resolve, .out = out, .symbol = symbol, .version = version};
}
inline Effect tells_version(const int* out) { return {.action = Action::tell_version, .out = out}; }
inline Effect starts(int device = no_device) { return {.action = Action::start, .device = device}; }
inline Effect creates_context(const void* out, int device) {
  return {.action = Action::create_context, .device = device, .out = out};
}
inline Effect retains_primary(const void* out, int device) {
  return {.action = Action::retain_primary, .device = device, .out = out};
}
template <class Handle>
Effect destroys_context(Handle context) {
  return {.action = Action::destroy_context, .address = as_number(context)};
}
inline Effect releases_primary(int device) { return {.action = Action::release_primary, .device = device}; }
inline Effect resets_primary(int device) { return {.action = Action::reset_primary, .device = device}; }
inline Effect resets_current() { return {.action = Action::reset_current}; }
inline Effect allocates(MemoryKind kind, const void* out, std::size_t size, const void* stream = nullptr) {
  return {.action = Action::allocate, .kind = kind, .size = size, .out = out, .stream = stream};
}
template <class Pointer>
Effect releases(MemoryKind kind, Pointer pointer, const void* stream = nullptr) {
  return {.action = Action::release, .kind = kind, .address = as_number(pointer), .stream = stream};
}
// A free of NULL frees nothing; programs use it to start CUDA.
template <class Pointer>
Effect releases_or_starts(MemoryKind kind, Pointer pointer) {
  return as_number(pointer) == 0 ? starts() : releases(kind, pointer);
}

}  // namespace gpumem
