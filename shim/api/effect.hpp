// What a call does if it succeeds: the last column of cuda_api.def.
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

// What the per-thread form of a function means by its stream.
inline const void* per_thread(const void* stream) {
  return stream == nullptr ? reinterpret_cast<const void*>(stream_per_thread) : stream;
}

// --- start and contexts

inline Effect resolves(void** out, const char* symbol, int version = 0) {
  return {.action = Action::resolve, .version = version, .out = out, .symbol = symbol};
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

// --- blocks and objects

// Whether what the kind stands for ends with its context unless the row says otherwise: stated in cuda.h for linear,
// pitched, managed memory, arrays, modules, graphics resources and external memory.
constexpr bool usually_ends_with_context(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::device:
    case MemoryKind::pitched:
    case MemoryKind::managed:
    case MemoryKind::array:
    case MemoryKind::view:
    case MemoryKind::ipc:
    case MemoryKind::external:
    case MemoryKind::variable:
    case MemoryKind::stream:
    case MemoryKind::event:
    case MemoryKind::module:
    case MemoryKind::graphics: return true;
    default: return false;
  }
}

inline Effect allocates(MemoryKind kind, const void* out, std::size_t size = 0) {
  return {.action = Action::allocate,
          .kind = kind,
          .ends_with_context = usually_ends_with_context(kind),
          .size = size,
          .out = out};
}
inline Effect creates(MemoryKind kind, const void* out) { return allocates(kind, out); }
// cuMemAllocHost only: its memory is documented to end with the context, other page-locked memory is not.
inline Effect allocates_pinned_in_context(const void* out, std::size_t size) {
  Effect effect = allocates(MemoryKind::pinned, out, size);
  effect.ends_with_context = true;
  return effect;
}
inline Effect allocates_async(const void* out, std::size_t size, const void* stream, const void* pool = nullptr) {
  return {.action = Action::allocate_from,
          .kind = MemoryKind::async,
          .size = size,
          .owner = as_number(pool),
          .out = out,
          .stream = stream};
}
// `depth` rows of rows; *pitch is the real length of a row.
Effect allocates_pitched(const void* out, const std::size_t* pitch, std::size_t width, std::size_t height);
Effect allocates_pitched_3d(const void* out, cudaExtent extent);
Effect allocates_array(const void* out, const void* descriptor);
Effect allocates_array_3d(const void* out, const void* descriptor, unsigned levels = 1);
Effect allocates_array_of(const void* out, const void* channels, cudaExtent extent, unsigned levels, unsigned flags);
Effect creates_pool(const void* out, const void* properties);
Effect imports_external(const void* out, const void* descriptor);
Effect views_external(const void* out, OpaquePointer external, const void* descriptor);
// The address and size of a variable, of which either may not be asked for.
Effect finds_variable(const void* out, const std::size_t* bytes, OpaquePointer owner);

// Size unknown to the caller; opening twice gives the same address.
inline Effect opens_ipc(const void* out) {
  return {.action = Action::add_reference, .kind = MemoryKind::ipc, .ends_with_context = true, .out = out};
}
inline Effect imports_pointer(const void* out, const void* pool) {
  return {.action = Action::allocate_from, .kind = MemoryKind::imported, .owner = as_number(pool), .out = out};
}
inline Effect registers(const void* pointer, std::size_t size) {
  return {.action = Action::set_up_memory, .kind = MemoryKind::registered, .size = size, .address = as_number(pointer)};
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

// --- virtual memory

Effect creates_physical(const void* out, std::size_t size, const void* properties);
inline Effect imports_physical(const void* out) {
  return {.action = Action::create_physical, .kind = MemoryKind::imported, .out = out};
}
inline Effect creates_multicast(const void* out) {
  return {.action = Action::create_physical, .kind = MemoryKind::multicast, .out = out};
}
inline Effect retains_physical(const void* out, const void* address) {
  return {.action = Action::retain_physical, .kind = MemoryKind::physical, .address = as_number(address), .out = out};
}
inline Effect releases_physical(CUmemGenericAllocationHandle handle) {
  return {.action = Action::release_physical, .kind = MemoryKind::physical, .address = handle};
}
inline Effect maps(CUdeviceptr address, std::size_t size, CUmemGenericAllocationHandle handle) {
  return {.action = Action::map, .kind = MemoryKind::mapped, .size = size, .address = address, .owner = handle};
}
inline Effect unmaps(CUdeviceptr address, std::size_t size) {
  return {.action = Action::unmap, .kind = MemoryKind::mapped, .size = size, .address = address};
}
inline Effect maps_tiles(const void* list, unsigned count) {
  return {.action = Action::map_tiles, .kind = MemoryKind::mapped, .version = static_cast<int>(count), .details = list};
}
inline Effect binds(CUmemGenericAllocationHandle multicast, std::size_t offset, CUmemGenericAllocationHandle memory,
                    std::size_t size, int device = no_device) {
  return {.action = Action::bind,
          .kind = MemoryKind::mapped,
          .device = device,
          .size = size,
          .address = multicast,
          .owner = memory,
          .offset = offset};
}
inline Effect binds_address(CUmemGenericAllocationHandle multicast, std::size_t offset, CUdeviceptr pointer,
                            std::size_t size, int device = no_device) {
  return {.action = Action::bind_address,
          .kind = MemoryKind::mapped,
          .device = device,
          .size = size,
          .address = multicast,
          .owner = pointer,
          .offset = offset};
}
inline Effect unbinds(CUmemGenericAllocationHandle multicast, int device, std::size_t offset, std::size_t size) {
  return {.action = Action::unbind,
          .kind = MemoryKind::mapped,
          .device = device,
          .size = size,
          .address = multicast,
          .offset = offset};
}

// --- graphs and graphics

Effect adds_graph_memory(OpaquePointer graph, const void* parameters);
Effect adds_graph_node(OpaquePointer graph, const void* parameters);
inline Effect instantiates(const void* out, OpaquePointer graph) {
  return {.action = Action::instantiate, .kind = MemoryKind::graph_exec, .owner = as_number(graph), .out = out};
}
inline Effect begins_capture(const void* stream, OpaquePointer graph = nullptr) {
  return {.action = Action::begin_capture, .kind = MemoryKind::graph, .owner = as_number(graph), .stream = stream};
}
inline Effect ends_capture(const void* stream, const void* out) {
  return {.action = Action::end_capture, .kind = MemoryKind::graph, .out = out, .stream = stream};
}
Effect views_resource(const void* out, const std::size_t* size, OpaquePointer resource);
inline Effect unmaps_resources(unsigned count, const void* resources) {
  return {.action = Action::unmap_resources,
          .kind = MemoryKind::view,
          .version = static_cast<int>(count),
          .details = resources};
}

// --- the rest

inline Effect sets_pool(int device, const void* pool) {
  return {.action = Action::set_pool, .kind = MemoryKind::pool, .device = device, .owner = as_number(pool)};
}
Effect sets_pool_at(const void* location, const void* pool);
inline Effect sets_limit(int limit, std::size_t value) {
  return {.action = Action::set_limit, .version = limit, .size = value};
}
template <class Pointer>
Effect makes_available(MemoryKind kind, Pointer address) {
  return {.action = Action::make_available, .kind = kind, .address = as_number(address)};
}
inline Effect launches(const void* stream = nullptr) { return {.action = Action::launch, .stream = stream}; }
inline Effect trims(const void* pool = nullptr) { return {.action = Action::trim, .owner = as_number(pool)}; }
inline Effect needs_memory() { return {.action = Action::need_memory}; }

}  // namespace gpumem
