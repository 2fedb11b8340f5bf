// The kinds of memory that are never added up with each other.
#pragma once

#include <cstdint>

namespace gpumem {

enum class MemoryKind : std::uint8_t { device, managed, async, pinned };
inline constexpr unsigned memory_kind_count = 4;

// Device addresses and host addresses are two spaces; within one, an address names at most one live block.
enum class AddressSpace : std::uint8_t { device, host };

constexpr AddressSpace address_space(MemoryKind kind) {
  return kind == MemoryKind::pinned ? AddressSpace::host : AddressSpace::device;
}

// Whether blocks of this kind end when their context does (stated in cuda.h for linear and managed memory).
constexpr bool ends_with_context(MemoryKind kind) { return kind == MemoryKind::device || kind == MemoryKind::managed; }

// Memory that belongs to no device has this ordinal.
inline constexpr int no_device = -1;

}  // namespace gpumem
