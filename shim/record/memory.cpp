// Blocks of memory, and objects that are counted like them.
#include "intercept/driver_queries.hpp"
#include "journal/schema.hpp"
#include "record/blocks.hpp"
#include "record/graphs.hpp"
#include "record/handlers.hpp"
#include "record/samples.hpp"

namespace gpumem {
namespace {

// The space in which the effect's owner is looked up.
AddressSpace owner_space(MemoryKind kind) {
  return kind == MemoryKind::view ? AddressSpace::external : AddressSpace::objects;
}

bool loads_code(MemoryKind kind) { return kind == MemoryKind::module || kind == MemoryKind::library; }

// A variable's address is no new memory, however often it is asked for.
bool is_known(Session& session, const Block& block) {
  Block known;
  return session.live.find(block.space, block.address, known) && (known.size == block.size || block.size == 0);
}

void allocated(Session& session, Call& call) {
  const Effect& effect = call.effect;
  const Place place = current_place(session, call);
  Block block = block_of(call, place);
  block.address = effect.output();
  if (effect.kind == MemoryKind::variable && (block.address == 0 || is_known(session, block))) return;
  if (effect.owner != 0) block.owner = make_owner(session, owner_space(effect.kind), effect.owner);
  begin_block(session, call, block);
  if (session.first_use_of(place.context)) sample(session, place.device, schema::why::context);
  if (loads_code(effect.kind)) sample(session, place.device, schema::why::code);
  sample_if_due(session, call, place.device);
}

void allocated_from_pool(Session& session, Call& call) {
  const Effect& effect = call.effect;
  const Place place = current_place(session, call);
  Block block = block_of(call, place);
  block.address = effect.output();
  // Without a pool it comes from that of the stream's device.
  if (Block stream; session.live.find(AddressSpace::objects, as_number(effect.stream), stream) &&
                    stream.kind == MemoryKind::stream && stream.device != no_device)
    block.device = stream.device;
  if (Block pool; effect.owner != 0 && session.live.find(AddressSpace::objects, effect.owner, pool)) {
    block.owner = pool.number;
    block.device = pool.device;
  } else if (effect.owner == 0) {
    block.owner = session.current_pool(block.device);
  }
  if (block.kind == MemoryKind::imported) {
    address_range(block.address, block.size);
  } else if (!join_capture(session, effect.stream, block)) {
    session.note_pool_use(block.device);
  }
  begin_block(session, call, block);
  if (session.sample_due(call.entered_ns)) sample_pool(session, block.owner, effect.owner, schema::why::time);
  sample_if_due(session, call, place.device);
}

void reopened(Session& session, Call& call) {
  const Place place = current_place(session, call);
  Block block = block_of(call, place);
  block.address = call.effect.output();
  Block known;
  const bool is_open = session.live.change(block.space, block.address, [&](Block& open) {
    if (open.kind == block.kind) ++open.references;
    known = open;
  });
  if (is_open && known.kind == block.kind) return write_reference(session, call, schema::op::ref, known);
  address_range(block.address, block.size);
  begin_block(session, call, block);
}

void registered(Session& session, Call& call) {
  Block block = block_of(call, current_place(session, call));
  block.address = call.effect.address;
  begin_block(session, call, block);
}

// What a graph owns is only lent by a free outside the graph.
bool belongs_to_graph(Session& session, const Effect& effect, Block& block) {
  return session.uses_graph_memory() && address_space(effect.kind) == AddressSpace::device &&
         session.live.find(AddressSpace::device, effect.address, block) && block.kind == MemoryKind::graph_memory;
}

void before_release(Session& session, Call& call) {
  const Effect& effect = call.effect;
  if (belongs_to_graph(session, effect, call.taken)) return;
  call.released = session.live.release(address_space(effect.kind), effect.address, call.taken);
  if (call.released == LiveTable::Released::ended) count_out(session, call.taken);
}

void released(Session& session, Call& call) {
  switch (call.released) {
    case LiveTable::Released::unknown:
      if (call.taken.kind == MemoryKind::graph_memory)
        return write_reference(session, call, schema::op::unref, call.taken);
      if (call.effect.address != 0) write_unknown_release(session, call);
      return;
    case LiveTable::Released::still_referenced:
      --call.taken.references;
      return write_reference(session, call, schema::op::unref, call.taken);
    case LiveTable::Released::ended: break;
  }
  write_end_of_block(session, call, call.taken);
  const std::uint64_t number = call.taken.number;
  switch (call.taken.kind) {
    case MemoryKind::module:
    case MemoryKind::library:
      if (!call.taken.owns) return;
      return end_blocks(session, call, [&](const Block& block) {
        return block.kind == MemoryKind::variable && block.owner == number;
      });
    case MemoryKind::array:
      if (call.taken.owns) end_parts(session, call, AddressSpace::tiles, number);
      return;
    // A graph can get memory after it was instantiated.
    case MemoryKind::graph:
    case MemoryKind::graph_exec:
      if (!session.uses_graph_memory()) return;
      return end_graph_memory(session, call, call.taken.kind == MemoryKind::graph ? number : call.taken.owner);
    case MemoryKind::graphics: return end_view(session, call, call.taken);
    case MemoryKind::stream: return end_capture_on(session, call, reinterpret_cast<const void*>(call.taken.address));
    case MemoryKind::pool: return session.forget_pool(number);
    default: return;
  }
}

void not_released(Session& session, Call& call) {
  if (call.released == LiveTable::Released::ended) put_back(session, call.taken);
  if (call.released == LiveTable::Released::still_referenced)
    session.live.change(call.taken.space, call.taken.address, [](Block& block) { ++block.references; });
}

}  // namespace

constinit const Handler allocation{.op = schema::op::alloc, .succeeded = allocated};
constinit const Handler pool_allocation{.op = schema::op::alloc, .succeeded = allocated_from_pool};
constinit const Handler reopening{.op = schema::op::alloc, .succeeded = reopened};
constinit const Handler registration{.op = schema::op::alloc, .succeeded = registered};
constinit const Handler release{
    .op = schema::op::free, .before = before_release, .succeeded = released, .failed = not_released};

}  // namespace gpumem
