#include "record/blocks.hpp"

#include "api/settings.hpp"
#include "checkpoint.hpp"
#include "journal/schema.hpp"
#include "session_lines.hpp"
#include "stack_lines.hpp"

namespace gpumem {
namespace {

// Of no device: host memory, address space, and what can be used with any.
bool has_device(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::library:
    case MemoryKind::graph:
    case MemoryKind::graph_exec:
    case MemoryKind::multicast:
    case MemoryKind::reserved: return false;
    default: return !is_host_memory(kind);
  }
}

EventRecord event_of_block(Session& session, const Call& call, std::string_view op, const Block& block) {
  EventRecord record = event_of(call, op);
  const BlockIdentity identity = block.identity();
  record.has_address = identity.has_address;
  record.address = identity.address;
  record.owner = identity.owner;
  record.has_memory = true;
  record.kind = block.kind;
  record.size = block.size;
  record.block = block.number;
  record.device = block.device;
  record.live = session.totals.live(block.device, block.kind);
  return record;
}

// Under GPUMEM_EVENTS=0 what blocks do is in the counters of their sites.
void write_block_event(Session& session, EventRecord& record, bool with_stack) {
  if (settings().events) write_event(session, record, with_stack);
}

std::uint64_t ns_of(const Session& session, const Call& call) {
  return call.entered_ns > session.start_ns ? call.entered_ns - session.start_ns : 0;
}

// Where and when it was allocated. Before it is in the live table, where a checkpoint may find it.
Site* note_origin(Session& session, const Call& call, std::uint32_t stack, Block& block) {
  Site* site = session.sites.site_of(stack, block.kind, block.device);
  block.site = site != nullptr ? site->number : 0;
  block.born = static_cast<std::uint32_t>(ns_of(session, call) / Block::born_unit_ns);
  block.thread = session.thread();
  return site;
}

// The live bytes of its kind then.
std::uint64_t count_in(Session& session, const Call& call, const Block& block, Site* site) {
  const std::uint64_t live = session.totals.add(block.device, block.kind, block.amount());
  Sites::allocated(site, block.amount(), ns_of(session, call));
  if (Totals::is_summed(block.kind))
    session.sites.note_sum(block.device, session.totals.live(block.device), ns_of(session, call));
  return live;
}

}  // namespace

Block block_of(const Call& call, const Place& place) {
  const Effect& effect = call.effect;
  Block block;
  block.size = effect.size;
  block.kind = effect.kind;
  block.space = address_space(effect.kind);
  if (has_device(effect.kind))
    block.device = static_cast<std::int16_t>(effect.device != no_device ? effect.device : place.device);
  if (effect.ends_with_context) block.context = place.context;
  return block;
}

// A block that the live table has no room for belongs to no total either: its release could not be told.
std::uint64_t begin_block(Session& session, const Call& call, Block block) {
  if (block.number == 0) block.number = session.last_block.fetch_add(1, std::memory_order_relaxed) + 1;
  if (block.space == AddressSpace::physical && block.owner != 0) block.address = block.number;
  EventRecord record = event_of_block(session, call, schema::op::alloc, block);
  record.context = block.context;
  record.stack = stack_here(session);
  record.has_stack = true;
  Block displaced;
  Site* site = note_origin(session, call, record.stack, block);
  if (block.address == 0) {
    record.block = 0;
  } else if (const auto inserted = session.live.insert(block, displaced); inserted == LiveTable::Inserted::no_memory) {
    session.lost_blocks.fetch_add(1, std::memory_order_relaxed);
    record.untracked = true;
    record.block = 0;
  } else {
    if (inserted == LiveTable::Inserted::replaced) count_out(session, displaced);
    record.live = count_in(session, call, block, site);
  }
  write_block_event(session, record, true);
  return record.block;
}

void count_out(Session& session, const Block& block) {
  session.totals.subtract(block.device, block.kind, block.amount());
  session.sites.ended(block.site, block.amount());
}

void put_back(Session& session, const Block& block) {
  Block displaced;
  if (session.live.insert(block, displaced) == LiveTable::Inserted::no_memory) {
    session.lost_blocks.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  session.totals.add(block.device, block.kind, block.amount());
  session.sites.came_back(block.site, block.amount());
  write_block_again(session, block);
}

void write_end_of_block(Session& session, const Call& call, const Block& block) {
  EventRecord record = event_of_block(session, call, schema::op::free, block);
  record.owner = 0;
  write_block_event(session, record, false);
}

void write_reference(Session& session, const Call& call, std::string_view op, const Block& block) {
  EventRecord record = event_of_block(session, call, op, block);
  record.references = block.references;
  record.has_memory = false;
  record.owner = 0;
  write_block_event(session, record, op == schema::op::ref);
}

void write_unknown_release(Session& session, const Call& call) {
  EventRecord record = event_of(call, schema::op::free);
  record.has_address = true;
  record.address = call.effect.address;
  record.unknown_pointer = true;
  write_event(session, record, false);
}

std::uint64_t number_at(Session& session, AddressSpace space, std::uint64_t address) {
  Block found;
  return session.live.find(space, address, found) ? found.number : 0;
}

bool block_containing(Session& session, AddressSpace space, std::uint64_t address, Block& found) {
  return session.live.find(space, address, found) ||
         session.live.find_where(
             [&](const Block& block) { return block.space == space && address - block.address < block.size; }, found);
}

std::uint64_t make_owner(Session& session, AddressSpace space, std::uint64_t address) {
  std::uint64_t number = 0;
  session.live.change(space, address, [&](Block& block) {
    block.owns = true;
    number = block.number;
  });
  return number;
}

void release_physical_memory(Session& session, const Call& call, std::uint64_t number) {
  Block memory;
  switch (session.live.release(AddressSpace::physical, number, memory)) {
    case LiveTable::Released::unknown: return;
    case LiveTable::Released::still_referenced:
      --memory.references;
      return write_reference(session, call, schema::op::unref, memory);
    case LiveTable::Released::ended: break;
  }
  end_block(session, call, memory);
  if (memory.kind == MemoryKind::multicast) end_parts(session, call, AddressSpace::bindings, number);
}

void end_block(Session& session, const Call& call, const Block& block) {
  count_out(session, block);
  write_end_of_block(session, call, block);
  const bool maps_memory = block.space == AddressSpace::mappings || block.space == AddressSpace::tiles ||
                           block.space == AddressSpace::bindings;
  if (maps_memory) release_physical_memory(session, call, block.owner);
}

namespace {

constexpr unsigned part_bits = 44;

}  // namespace

std::uint64_t part_key(std::uint64_t whole_number, std::uint64_t part) {
  return (whole_number << part_bits) | (part & ((std::uint64_t{1} << part_bits) - 1)) | 1;
}

void end_parts(Session& session, const Call& call, AddressSpace space, std::uint64_t whole_number) {
  const std::uint64_t beginning = part_key(whole_number, 0) >> part_bits;
  end_blocks(session, call,
             [&](const Block& block) { return block.space == space && block.address >> part_bits == beginning; });
}

}  // namespace gpumem
