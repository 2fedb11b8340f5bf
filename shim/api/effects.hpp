// The words of the last column of cuda_api.def: each makes the Effect of a call from its arguments.
#pragma once

#include "api/cuda_types.hpp"
#include "api/effect.hpp"

namespace gpumem {

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
inline Effect uses(int device = no_device) { return {.action = Action::use, .device = device}; }
inline Effect waits_for(const void* stream) { return {.action = Action::use, .stream = stream}; }

}  // namespace gpumem
