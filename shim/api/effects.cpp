#include "api/effects.hpp"

namespace gpumem {
namespace {

template <class Structure, void (*take)(Effect&, const Structure&)>
void complete_from(Effect& effect) {
  if (effect.details != nullptr) take(effect, *static_cast<const Structure*>(effect.details));
}

// A product that does not wrap around: a size that a driver granted fits, and no other is computed.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? ~std::uint64_t{0} : result;
}

// Of one channel; 0 where the format has no size for an element of its own (compressed and planar ones).
unsigned bytes_per_channel(int format) {
  switch (format) {
    case 0x01:
    case 0x08: return 1;
    case 0x02:
    case 0x09:
    case 0x10: return 2;
    case 0x03:
    case 0x0a:
    case 0x20: return 4;
    default: return format >= 0xc0 && format <= 0xcb ? static_cast<unsigned>((format - 0xc0) / 3 % 2 + 1) : 0;
  }
}

// Levels halve every side. An array with no height or depth has one row, or one layer.
std::uint64_t elements(cudaExtent extent, unsigned levels) {
  std::uint64_t sum = 0;
  for (unsigned level = 0; level < levels; ++level) {
    const auto side = [level](std::size_t full) { return full >> level > 0 ? full >> level : std::size_t{1}; };
    sum += product(product(side(extent.width), side(extent.height)), side(extent.depth));
    if (side(extent.width) == 1 && side(extent.height) == 1 && side(extent.depth) == 1) break;
  }
  return sum;
}

std::uint64_t array_bytes(cudaExtent extent, unsigned levels, std::uint64_t element, unsigned flags) {
  if (flags & (array_sparse | array_deferred_mapping)) return 0;
  return product(elements(extent, levels), element);
}

bool is_host(const CUmemLocation& location) {
  return location.type == location_host || location.type == location_host_numa ||
         location.type == location_host_numa_current;
}

void take_location(Effect& effect, const CUmemLocation& location) {
  if (location.type == location_device) effect.device = location.id;
}

void take_pitch(Effect& effect, const std::size_t& pitch) { effect.size = product(pitch, effect.offset); }

void take_pitch_3d(Effect& effect, const cudaPitchedPtr& rows) { effect.size = product(rows.pitch, effect.offset); }

void take_array(Effect& effect, const CUDA_ARRAY_DESCRIPTOR& array) {
  effect.size = array_bytes({array.width, array.height, 1}, 1, bytes_per_channel(array.format) * array.channels, 0);
}

void take_array_3d(Effect& effect, const CUDA_ARRAY3D_DESCRIPTOR& array) {
  effect.size = array_bytes({array.width, array.height, array.depth}, static_cast<unsigned>(effect.version),
                            bytes_per_channel(array.format) * array.channels, array.flags);
}

void take_channels(Effect& effect, const cudaChannelFormatDesc& channels) {
  int bits = 0;
  for (const int each : channels.bits) bits += each;
  effect.size = product(effect.size, static_cast<std::uint64_t>(bits > 0 ? bits : 0) / 8);
}

void take_pool(Effect& effect, const CUmemPoolProps& pool) { take_location(effect, pool.location); }

void take_external(Effect& effect, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC& external) { effect.size = external.size; }

void take_external_view(Effect& effect, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC& buffer) { effect.size = buffer.size; }

void take_bytes(Effect& effect, const std::size_t& bytes) { effect.size = bytes; }

void take_physical(Effect& effect, const CUmemAllocationProp& properties) {
  take_location(effect, properties.location);
  if (is_host(properties.location)) effect.kind = MemoryKind::host_physical;
}

void take_graph_memory(Effect& effect, const CUDA_MEM_ALLOC_NODE_PARAMS& node) {
  take_location(effect, node.pool_properties.location);
  effect.size = node.bytes;
  effect.address = node.pointer;
}

void take_graph_node(Effect& effect, const CUgraphNodeParams& node) {
  if (node.type == graph_node_mem_alloc) take_graph_memory(effect, node.alloc);
}

template <class Structure, void (*take)(Effect&, const Structure&)>
Effect described(Effect effect, const void* details) {
  effect.details = details;
  effect.complete = complete_from<Structure, take>;
  return effect;
}

}  // namespace

Effect allocates_pitched(const void* out, const std::size_t* pitch, std::size_t width, std::size_t height) {
  const Effect rows = allocates(MemoryKind::pitched, out, product(width, height));
  Effect effect = described<std::size_t, take_pitch>(rows, pitch);
  effect.offset = height;
  return effect;
}

Effect allocates_pitched_3d(const void* out, cudaExtent extent) {
  const std::uint64_t height = product(extent.height, extent.depth);
  const Effect rows = allocates(MemoryKind::pitched, out, product(extent.width, height));
  Effect effect = described<cudaPitchedPtr, take_pitch_3d>(rows, out);
  effect.offset = height;
  return effect;
}

Effect allocates_array(const void* out, const void* descriptor) {
  return described<CUDA_ARRAY_DESCRIPTOR, take_array>(allocates(MemoryKind::array, out), descriptor);
}

Effect allocates_array_3d(const void* out, const void* descriptor, unsigned levels) {
  Effect effect = described<CUDA_ARRAY3D_DESCRIPTOR, take_array_3d>(allocates(MemoryKind::array, out), descriptor);
  effect.version = static_cast<int>(levels);
  return effect;
}

Effect allocates_array_of(const void* out, const void* channels, cudaExtent extent, unsigned levels, unsigned flags) {
  const Effect array = allocates(MemoryKind::array, out, array_bytes(extent, levels, 1, flags));
  return described<cudaChannelFormatDesc, take_channels>(array, channels);
}

Effect creates_pool(const void* out, const void* properties) {
  return described<CUmemPoolProps, take_pool>(creates(MemoryKind::pool, out), properties);
}

Effect imports_external(const void* out, const void* descriptor) {
  const Effect external = allocates(MemoryKind::external, out);
  return described<CUDA_EXTERNAL_MEMORY_HANDLE_DESC, take_external>(external, descriptor);
}

Effect views_external(const void* out, OpaquePointer external, const void* descriptor) {
  Effect effect =
      described<CUDA_EXTERNAL_MEMORY_BUFFER_DESC, take_external_view>(allocates(MemoryKind::view, out), descriptor);
  effect.owner = as_number(external);
  return effect;
}

Effect finds_variable(const void* out, const std::size_t* bytes, OpaquePointer owner) {
  Effect effect = described<std::size_t, take_bytes>(allocates(MemoryKind::variable, out), bytes);
  effect.owner = as_number(owner);
  return effect;
}

Effect views_resource(const void* out, const std::size_t* size, OpaquePointer resource) {
  const Effect view{.action = Action::view_resource,
                    .kind = MemoryKind::view,
                    .ends_with_context = true,
                    .owner = as_number(resource),
                    .out = out};
  return described<std::size_t, take_bytes>(view, size);
}

Effect creates_physical(const void* out, std::size_t size, const void* properties) {
  const Effect physical{.action = Action::create_physical, .kind = MemoryKind::physical, .size = size, .out = out};
  return described<CUmemAllocationProp, take_physical>(physical, properties);
}

Effect adds_graph_memory(OpaquePointer graph, const void* parameters) {
  const Effect memory{.action = Action::add_graph_memory, .kind = MemoryKind::graph_memory, .owner = as_number(graph)};
  return described<CUDA_MEM_ALLOC_NODE_PARAMS, take_graph_memory>(memory, parameters);
}

Effect adds_graph_node(OpaquePointer graph, const void* parameters) {
  const Effect memory{.action = Action::add_graph_memory, .kind = MemoryKind::graph_memory, .owner = as_number(graph)};
  return described<CUgraphNodeParams, take_graph_node>(memory, parameters);
}

Effect sets_pool_at(const void* location, const void* pool) {
  return described<CUmemLocation, take_location>(sets_pool(no_device, pool), location);
}

}  // namespace gpumem
