// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <limits>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

/// Allocates for the current context and stores the address.
template <class Address>
status allocate(Address* out, block wanted) {
  if (!out || !wanted.bytes) return status::invalid_value;
  const locked_machine sim;
  const status safe = sim->graphs.unsafe_call();
  if (safe != status::success) return safe;
  wanted.owner = &current_context().owner;
  wanted.made_in = &current_context();
  const block* made = nullptr;
  const status result = sim->blocks.allocate(wanted, made);
  if (result == status::success) *out = (Address)made->address;
  return result;
}

device_ptr address_of(const void* pointer) { return reinterpret_cast<device_ptr>(pointer); }

}  // namespace

status cuMemAlloc_v2(device_ptr* out, std::size_t bytes) { return allocate(out, {.bytes = bytes}); }

status cuMemAllocPitch_v2(device_ptr* out, std::size_t* pitch, std::size_t width_bytes, std::size_t height,
                          unsigned element_bytes) {
  if (!pitch || (element_bytes != 4 && element_bytes != 8 && element_bytes != 16)) return status::invalid_value;
  if (width_bytes > std::numeric_limits<std::size_t>::max() / 2) return status::out_of_memory;
  const std::size_t row = (width_bytes + address_space::granule - 1) / address_space::granule * address_space::granule;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(row, height, &bytes)) return status::out_of_memory;
  const status result = allocate(out, {.bytes = bytes});
  if (result == status::success) *pitch = row;
  return result;
}

status cuMemAllocManaged(device_ptr* out, std::size_t bytes, unsigned flags) {
  constexpr unsigned global = 1, host = 2;
  if (flags != global && flags != host) return status::invalid_value;
  return allocate(out, {.bytes = bytes, .kind = block_kind::managed, .flags = flags});
}

status cuMemFree_v2(device_ptr address) {
  if (!address) return status::success;
  const locked_machine sim;
  const status safe = sim->graphs.unsafe_call();
  if (safe != status::success) return safe;
  const block* found = sim->blocks.starting_at(address);
  if (!found || !found->is_freeable()) return status::invalid_value;
  sim->blocks.free(*found);
  return status::success;
}

status cuMemAllocHost_v2(void** out, std::size_t bytes) {
  return allocate(out, {.bytes = bytes, .kind = block_kind::pinned});
}

status cuMemHostAlloc(void** out, std::size_t bytes, unsigned flags) {
  constexpr unsigned known_flags = 7;
  if (flags & ~known_flags) return status::invalid_value;
  return allocate(out, {.bytes = bytes, .kind = block_kind::pinned, .flags = flags});
}

status cuMemFreeHost(void* address) {
  if (!address) return status::success;
  const locked_machine sim;
  const status safe = sim->graphs.unsafe_call();
  if (safe != status::success) return safe;
  const block* found = sim->blocks.starting_at(address_of(address));
  if (!found || found->kind != block_kind::pinned) return status::invalid_value;
  sim->blocks.free(*found);
  return status::success;
}

status cuMemHostRegister(void* address, std::size_t bytes, unsigned flags) {
  constexpr unsigned known_flags = 15;
  if (!address || !bytes || flags & ~known_flags) return status::invalid_value;
  const locked_machine sim;
  if (sim->blocks.overlaps(address_of(address), bytes)) return status::host_memory_already_registered;
  sim->blocks.add_registered({.address = address_of(address),
                              .bytes = bytes,
                              .kind = block_kind::registered,
                              .owner = &current_context().owner,
                              .made_in = &current_context(),
                              .flags = flags});
  return status::success;
}

status cuMemHostUnregister(void* address) {
  if (!address) return status::invalid_value;
  const locked_machine sim;
  const status safe = sim->graphs.unsafe_call();
  if (safe != status::success) return safe;
  const block* found = sim->blocks.starting_at(address_of(address));
  if (!found || found->kind != block_kind::registered) return status::host_memory_not_registered;
  sim->blocks.free(*found);
  return status::success;
}

status cuMemHostGetDevicePointer_v2(device_ptr* out, void* address, unsigned flags) {
  if (!out || flags) return status::invalid_value;
  const locked_machine sim;
  const block* found = sim->blocks.containing(address_of(address));
  if (!found || !found->on_host()) return status::invalid_value;
  *out = address_of(address);
  return status::success;
}

status cuMemHostGetFlags(unsigned* flags, void* address) {
  if (!flags) return status::invalid_value;
  const locked_machine sim;
  const block* found = sim->blocks.containing(address_of(address));
  if (!found || found->kind != block_kind::pinned) return status::invalid_value;
  *flags = found->flags;
  return status::success;
}

status cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  const locked_machine sim;
  device& owner = current_context().owner;
  if (free) *free = owner.free_bytes();
  if (total) *total = owner.capacity();
  return status::success;
}

status cuMemGetAddressRange_v2(device_ptr* base, std::size_t* bytes, device_ptr address) {
  const locked_machine sim;
  const block* found = sim->blocks.containing(address);
  if (!found) return status::not_found;
  if (base) *base = found->address;
  if (bytes) *bytes = found->bytes;
  return status::success;
}

namespace {

/// The attribute's value as the driver stores it: its number of bytes differs from one to the next.
struct pointer_attribute {
  unsigned char bytes[8] = {};
  std::size_t size = 0;

  template <class Value>
  pointer_attribute(Value value) : size(sizeof value) {
    std::memcpy(bytes, &value, sizeof value);
  }
};

std::optional<pointer_attribute> read_attribute(const block& of, int attribute, device_ptr address) {
  constexpr int zero = 0;
  switch (attribute) {
    case 1: return of.made_in;
    case 2: return static_cast<int>(of.on_host() ? memory_type::host : memory_type::device);
    case 3: return address;
    case 4: return of.on_host() || of.kind == block_kind::managed ? address : device_ptr{0};
    case 6: return zero;
    case 7: return of.id;
    case 8: return static_cast<int>(of.kind == block_kind::managed);
    case 9: return of.owner->ordinal();
    case 10: return static_cast<int>(of.kind == block_kind::linear);
    case 11: return of.address;
    case 12: return of.bytes;
    case 13: return 1;
    case 14: return std::uint64_t{0};
    case 15: return zero;
    case 16: return of.kind == block_kind::mapped ? static_cast<int>(of.flags) : 3;  // 3: readable and writable
    case 17: return of.pool;
    case 18: return of.bytes;
    case 19: return of.address;
    case 20: return of.id;
    case 21: return zero;
    default: return std::nullopt;
  }
}

}  // namespace

status cuPointerGetAttribute(void* value, int attribute, device_ptr address) {
  if (!value) return status::invalid_value;
  const locked_machine sim;
  const block* found = sim->blocks.containing(address);
  const auto known = found ? read_attribute(*found, attribute, address) : std::nullopt;
  if (!known) return status::invalid_value;
  std::memcpy(value, known->bytes, known->size);
  return status::success;
}

status cuPointerGetAttributes(unsigned count, int* attributes, void** values, device_ptr address) {
  if (!count || !attributes || !values) return status::invalid_value;
  const locked_machine sim;
  // Of a pointer that CUDA does not know every attribute is zero, and the call succeeds.
  const block* found = sim->blocks.containing(address);
  const block nothing{.owner = &*sim->devices.front()};
  for (unsigned index = 0; index < count; ++index) {
    const auto known = read_attribute(found ? *found : nothing, attributes[index], address);
    if (!known) return status::invalid_value;
    if (found)
      std::memcpy(values[index], known->bytes, known->size);
    else
      std::memset(values[index], 0, known->size);
  }
  return status::success;
}

}  // namespace simcuda::api
