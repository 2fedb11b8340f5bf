// What a call does if it succeeds.
//
// An effect is made from the arguments before the call. It keeps out-parameters, and structures that the caller
// describes something with, as pointers: they are read only after the call has succeeded, never after a failure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "api/cuda_types.hpp"
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

  allocate,       // *out is a new block or object
  allocate_from,  // the same, in the stream `stream` and, if `owner` is not 0, from that pool
  add_reference,  // *out is a block that is new, or gets another reference
  set_up_memory,  // `address` is the program's own memory, and a block now
  release,        // the block at `address` loses a reference, or ends

  create_physical,   // *out is a handle of new physical memory
  retain_physical,   // *out is a handle of what is mapped at `address`
  release_physical,  // the handle `address` loses a reference
  map,               // physical memory of the handle `owner` is mapped at `address`
  unmap,             // all mappings in `size` bytes from `address` end
  map_tiles,         // `version` entries of `details` map physical memory into sparse arrays, or unmap it
  bind,              // physical memory of the handle `owner` is bound to the multicast object `address` at `offset`
  bind_address,      // the same for what is mapped at `owner`
  unbind,

  add_graph_memory,  // the graph `owner` may have got memory: at `address`, if that is not 0
  instantiate,       // *out is an executable form of the graph `owner`
  begin_capture,     // of the stream; into the graph `owner`, or a new one
  end_capture,       // *out is the graph
  view_resource,     // *out is the address of the graphics resource `owner`
  unmap_resources,   // the views of `version` graphics resources at `details` end
  set_pool,          // the device's streams now take from the pool `owner`
  set_limit,         // limit `version` becomes `size`
  make_available,    // what is at `address` can be opened by other processes
  launch,            // a kernel or a graph: can load code and take local memory
  trim,              // a pool gives memory back
  need_memory,       // takes memory that nothing counts, or fails for want of it
  use,               // needs CUDA, or asks for something, and leaves nothing behind
};

struct Effect {
  Action action = Action::start;
  MemoryKind kind = MemoryKind::device;
  bool ends_with_context = false;
  int device = no_device;
  int version = 0;
  std::uint64_t size = 0;
  std::uint64_t address = 0;
  std::uint64_t owner = 0;
  std::uint64_t offset = 0;
  const void* out = nullptr;
  const void* details = nullptr;
  const void* stream = nullptr;
  const char* symbol = nullptr;
  // Reads what became readable by the success.
  void (*complete)(Effect&) = nullptr;

  std::uint64_t output() const { return out == nullptr ? 0 : *static_cast<const std::uint64_t*>(out); }
};

template <class T>
std::uint64_t as_number(T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}
inline std::uint64_t as_number(unsigned long long address) { return address; }

}  // namespace gpumem
