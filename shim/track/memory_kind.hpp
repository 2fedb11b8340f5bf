// The kinds of memory and of objects that are never added up with each other.
#pragma once

#include <cstdint>

namespace gpumem {

// In the order of schema::kinds, which gives their names.
enum class MemoryKind : std::uint8_t {
  device,
  pitched,
  managed,
  array,
  async,
  physical,
  graph_memory,
  reserved,
  mapped,
  view,
  ipc,
  external,
  imported,
  pinned,
  host_physical,
  registered,
  variable,
  stream,
  event,
  module,
  library,
  graph,
  graph_exec,
  pool,
  green_context,
  graphics,
  multicast,
  count,
};
inline constexpr unsigned memory_kind_count = static_cast<unsigned>(MemoryKind::count);

// Within a space, an address or handle names at most one live block.
enum class AddressSpace : std::uint8_t {
  device,      // what kernels can be given
  host,        // page-locked memory
  registered,  // the program's own memory: the same address can be allocated and registered
  ranges,      // reserved address ranges
  mappings,    // of physical memory into a range
  tiles,       // of physical memory into a sparse array: by a key of ours
  bindings,    // of physical memory to a multicast object: by a key of ours
  physical,    // by its number
  handles,     // of physical memory: by the handle's value
  external,
  variables,
  captures,  // streams that are being captured
  objects,   // everything else that has a handle; handles are addresses in the driver
};

constexpr AddressSpace address_space(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::pinned: return AddressSpace::host;
    case MemoryKind::registered: return AddressSpace::registered;
    case MemoryKind::reserved: return AddressSpace::ranges;
    case MemoryKind::mapped: return AddressSpace::mappings;
    case MemoryKind::physical:
    case MemoryKind::host_physical: return AddressSpace::physical;
    case MemoryKind::external: return AddressSpace::external;
    case MemoryKind::variable: return AddressSpace::variables;
    case MemoryKind::array:
    case MemoryKind::stream:
    case MemoryKind::event:
    case MemoryKind::module:
    case MemoryKind::library:
    case MemoryKind::graph:
    case MemoryKind::graph_exec:
    case MemoryKind::pool:
    case MemoryKind::green_context:
    case MemoryKind::graphics:
    case MemoryKind::multicast: return AddressSpace::objects;
    default: return AddressSpace::device;
  }
}

constexpr bool is_host_memory(MemoryKind kind) {
  return kind == MemoryKind::pinned || kind == MemoryKind::registered || kind == MemoryKind::host_physical;
}

// Objects are counted, not measured.
constexpr bool is_object(MemoryKind kind) { return kind >= MemoryKind::stream; }

// Memory that belongs to no device has this ordinal.
inline constexpr int no_device = -1;

}  // namespace gpumem
