// Physical memory, its handles, and its mappings.
//
// A handle's value can come again while what it stood for lives on in a mapping. So physical memory is kept by its
// number, with a reference for each handle entry, mapping, tile and binding; handles are entries of their own.
#include <sys/mman.h>

#include "journal/schema.hpp"
#include "record/blocks.hpp"
#include "record/handlers.hpp"

namespace gpumem {
namespace {

bool refer_to(Session& session, std::uint64_t number, Block& memory) {
  return session.live.change(AddressSpace::physical, number, [&](Block& block) {
    ++block.references;
    memory = block;
  });
}

// The number of the physical memory that a handle stands for, or 0.
std::uint64_t memory_of(Session& session, std::uint64_t handle) {
  Block entry;
  return session.live.find(AddressSpace::handles, handle, entry) ? entry.owner : 0;
}

void add_handle(Session& session, const Call& call, std::uint64_t handle, std::uint64_t number) {
  Block entry, displaced;
  entry.space = AddressSpace::handles;
  entry.address = handle;
  entry.owner = number;
  switch (session.live.insert(entry, displaced)) {
    case LiveTable::Inserted::fresh: return;
    case LiveTable::Inserted::replaced: return release_physical_memory(session, call, displaced.owner);
    case LiveTable::Inserted::no_memory:  // its release could not be told
      session.lost_blocks.fetch_add(1, std::memory_order_relaxed);
      return release_physical_memory(session, call, number);
  }
}

// A handle that is known gets another reference, and so does what it stands for; false if it is not.
bool refer_again(Session& session, const Call& call, std::uint64_t handle) {
  std::uint64_t number = 0;
  Block memory;
  const bool is_known = session.live.change(AddressSpace::handles, handle, [&](Block& entry) {
    ++entry.references;
    number = entry.owner;
  });
  if (!is_known || !refer_to(session, number, memory)) return false;
  write_reference(session, call, schema::op::ref, memory);
  return true;
}

void created(Session& session, Call& call) {
  // What is imported can be here already.
  if (call.effect.kind == MemoryKind::imported && refer_again(session, call, call.effect.output())) return;
  Block memory = block_of(call, current_place(session, call));
  memory.space = AddressSpace::physical;
  memory.owner = call.effect.output();
  memory.number = session.last_block.fetch_add(1, std::memory_order_relaxed) + 1;
  if (begin_block(session, call, memory) != 0) add_handle(session, call, memory.owner, memory.number);
}

void retained(Session& session, Call& call) {
  const std::uint64_t handle = call.effect.output();
  Block mapping, memory;
  if (handle == 0 || refer_again(session, call, handle) ||
      !block_containing(session, AddressSpace::mappings, call.effect.address, mapping) ||
      !refer_to(session, mapping.owner, memory))
    return;
  add_handle(session, call, handle, mapping.owner);
  write_reference(session, call, schema::op::ref, memory);
}

void before_release(Session& session, Call& call) {
  call.released = session.live.release(AddressSpace::handles, call.effect.address, call.taken);
}

void released(Session& session, Call& call) {
  if (call.released == LiveTable::Released::unknown) return write_unknown_release(session, call);
  release_physical_memory(session, call, call.taken.owner);
}

void not_released(Session& session, Call& call) {
  Block displaced;
  if (call.released == LiveTable::Released::ended) session.live.insert(call.taken, displaced);
  if (call.released == LiveTable::Released::still_referenced)
    session.live.change(AddressSpace::handles, call.taken.address, [](Block& entry) { ++entry.references; });
}

// The reference is taken before the call, so that a release meanwhile cannot end the memory; `taken` is the memory.
void refer_before(Session& session, Call& call, std::uint64_t number) {
  if (refer_to(session, number, call.taken)) call.released = LiveTable::Released::still_referenced;
}

void before_mapping(Session& session, Call& call) {
  refer_before(session, call, memory_of(session, call.effect.owner));
}

void before_address_binding(Session& session, Call& call) {
  Block mapping;
  if (block_containing(session, AddressSpace::mappings, call.effect.owner, mapping))
    refer_before(session, call, mapping.owner);
}

void not_mapped(Session& session, Call& call) {
  Block memory;
  if (call.released == LiveTable::Released::still_referenced &&
      session.live.release(AddressSpace::physical, call.taken.number, memory) == LiveTable::Released::ended)
    end_block(session, call, memory);
}

// `memory`: what is mapped, or an empty block if that is unknown.
Block mapping_of(const Call& call, AddressSpace space, std::uint64_t address, const Block& memory) {
  Block mapping = block_of(call, {});
  mapping.space = space;
  mapping.address = address;
  mapping.owner = memory.number;
  mapping.device = memory.device;
  return mapping;
}

// A mapping that there is no room for does not keep its memory either.
void begin_mapping(Session& session, Call& call, AddressSpace space, std::uint64_t address) {
  if (begin_block(session, call, mapping_of(call, space, address, call.taken)) == 0) not_mapped(session, call);
}

void mapped(Session& session, Call& call) { begin_mapping(session, call, AddressSpace::mappings, call.effect.address); }

constexpr std::size_t bytes_of(std::size_t blocks) { return blocks * sizeof(Block); }

// An unmapping covers whole mappings, one after another.
void before_unmapping(Session& session, Call& call) {
  const std::uint64_t first = call.effect.address, size = call.effect.size;
  std::size_t count = 0;
  Block mapping;
  for (std::uint64_t at = 0; at < size && session.live.find(AddressSpace::mappings, first + at, mapping); ++count) {
    if (mapping.size == 0 || mapping.size > size - at) break;
    at += mapping.size;
  }
  if (count == 0 || !session.live.take(AddressSpace::mappings, first, call.taken)) return;
  call.released = LiveTable::Released::ended;
  count_out(session, call.taken);
  if (count == 1) return;
  void* pages = mmap(nullptr, bytes_of(count), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return;
  call.more_taken = static_cast<Block*>(pages);
  call.more_capacity = count;
  for (std::uint64_t at = call.taken.size; at < size && call.more_count < count;) {
    Block& next = call.more_taken[call.more_count];
    if (!session.live.take(AddressSpace::mappings, first + at, next)) break;
    ++call.more_count;
    count_out(session, next);
    at += next.size;
  }
}

template <class Visit>
void for_each_taken(Call& call, Visit&& visit) {
  if (call.released == LiveTable::Released::ended) visit(call.taken);
  for (std::size_t i = 0; i < call.more_count; ++i) visit(call.more_taken[i]);
  if (call.more_taken != nullptr) munmap(call.more_taken, bytes_of(call.more_capacity));
}

void unmapped(Session& session, Call& call) {
  if (call.released == LiveTable::Released::unknown) write_unknown_release(session, call);
  for_each_taken(call, [&](const Block& mapping) {
    write_end_of_block(session, call, mapping);
    release_physical_memory(session, call, mapping.owner);
  });
  // Where there was no room for a mapping, those behind it are still there.
  const Effect& effect = call.effect;
  if (effect.action == Action::unmap && session.lost_blocks.load(std::memory_order_relaxed) != 0)
    end_blocks(session, call, [&](const Block& block) {
      return block.space == AddressSpace::mappings && block.address - effect.address < effect.size;
    });
}

void not_unmapped(Session& session, Call& call) {
  for_each_taken(call, [&](const Block& mapping) { put_back(session, mapping); });
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ hash >> 29 ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 32;
}

// What part of a multicast object a binding takes: a device's, from an offset on.
std::uint64_t binding_key(Session& session, const Effect& effect, int device) {
  const std::uint64_t part = mixed(static_cast<std::uint64_t>(device) + 1, effect.offset);
  return part_key(memory_of(session, effect.address), part);
}

void bound(Session& session, Call& call) {
  const int device = call.effect.device != no_device ? call.effect.device : call.taken.device;
  begin_mapping(session, call, AddressSpace::bindings, binding_key(session, call.effect, device));
}

void before_unbinding(Session& session, Call& call) {
  const std::uint64_t key = binding_key(session, call.effect, call.effect.device);
  call.released = session.live.release(AddressSpace::bindings, key, call.taken);
  if (call.released == LiveTable::Released::ended) count_out(session, call.taken);
}

// What part of an array an entry speaks of, whatever its extent: level, layer and offsets, or layer and offset in the
// mip tail.
std::uint64_t region_of(const CUarrayMapInfo& entry) {
  const bool is_level = entry.subresource_type == subresource_sparse_level;
  const std::uint64_t* part = entry.subresource;
  const std::uint64_t last = is_level ? static_cast<std::uint32_t>(part[2]) : 0;
  const std::uint64_t first = is_level ? part[0] : static_cast<std::uint32_t>(part[0]) + (std::uint64_t{1} << 63);
  return mixed(mixed(first, part[1]), last);
}

void tiles_mapped(Session& session, Call& call) {
  const auto* entries = static_cast<const CUarrayMapInfo*>(call.effect.details);
  for (int i = 0; entries != nullptr && i < call.effect.version; ++i) {
    const CUarrayMapInfo& entry = entries[i];
    make_owner(session, AddressSpace::objects, as_number(entry.resource));
    Block array, tile;
    session.live.find(AddressSpace::objects, as_number(entry.resource), array);
    const std::uint64_t key = part_key(array.number, region_of(entry));
    if (session.live.take(AddressSpace::tiles, key, tile)) end_block(session, call, tile);
    Block memory;
    if (entry.operation != operation_map || !refer_to(session, memory_of(session, entry.handle), memory)) continue;
    tile = mapping_of(call, AddressSpace::tiles, key, memory);
    tile.context = array.context;
    if (begin_block(session, call, tile) == 0) release_physical_memory(session, call, memory.number);
  }
}

}  // namespace

constinit const Handler physical_creation{.op = schema::op::alloc, .succeeded = created};
constinit const Handler physical_retain{.op = schema::op::ref, .succeeded = retained};
constinit const Handler physical_release{
    .op = schema::op::free, .before = before_release, .succeeded = released, .failed = not_released};
constinit const Handler mapping{
    .op = schema::op::alloc, .before = before_mapping, .succeeded = mapped, .failed = not_mapped};
constinit const Handler unmapping{
    .op = schema::op::free, .before = before_unmapping, .succeeded = unmapped, .failed = not_unmapped};
constinit const Handler tile_mapping{.op = schema::op::alloc, .succeeded = tiles_mapped};
constinit const Handler binding{
    .op = schema::op::alloc, .before = before_mapping, .succeeded = bound, .failed = not_mapped};
constinit const Handler address_binding{
    .op = schema::op::alloc, .before = before_address_binding, .succeeded = bound, .failed = not_mapped};
constinit const Handler unbinding{
    .op = schema::op::free, .before = before_unbinding, .succeeded = unmapped, .failed = not_unmapped};

}  // namespace gpumem
