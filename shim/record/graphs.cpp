#include "record/graphs.hpp"

#include "intercept/driver_queries.hpp"
#include "journal/schema.hpp"
#include "record/blocks.hpp"
#include "record/handlers.hpp"
#include "record/samples.hpp"

namespace gpumem {
namespace {

// Each thread has a per-thread stream of its own, under one handle.
std::uint64_t capture_key(Session& session, const void* stream) {
  const std::uint64_t handle = as_number(stream);
  return handle == stream_per_thread ? (std::uint64_t{session.stamp().tid} << 8 | handle) : handle;
}

void graph_memory_added(Session& session, Call& call) {
  if (call.effect.address == 0) return;
  Block block = block_of(call, current_place(session, call));
  block.address = call.effect.address;
  block.owner = number_at(session, AddressSpace::objects, call.effect.owner);
  begin_block(session, call, block);
  session.note_graph_memory(block.device);
}

void instantiated(Session& session, Call& call) {
  const Place place = current_place(session, call);
  Block block = block_of(call, place);
  block.address = call.effect.output();
  block.owner = number_at(session, AddressSpace::objects, call.effect.owner);
  begin_block(session, call, block);
  sample(session, place.device, schema::why::code);
}

// The graph has its number from now on, so that what is allocated under capture can name it.
void capture_begun(Session& session, Call& call) {
  const Effect& effect = call.effect;
  Block capture;
  capture.space = AddressSpace::captures;
  capture.address = capture_key(session, effect.stream);
  capture.number = effect.owner != 0 ? number_at(session, AddressSpace::objects, effect.owner) : 0;
  if (capture.number == 0) capture.number = session.last_block.fetch_add(1, std::memory_order_relaxed) + 1;
  capture.context = current_place(session, call).context;
  if (session.driver_usable()) open_capture(effect.stream, capture.size);
  Block displaced;
  if (session.live.insert(capture, displaced) == LiveTable::Inserted::fresh)
    session.open_captures.fetch_add(1, std::memory_order_relaxed);
}

bool take_capture(Session& session, const void* stream, Block& capture) {
  if (session.open_captures.load(std::memory_order_relaxed) == 0 ||
      !session.live.take(AddressSpace::captures, capture_key(session, stream), capture))
    return false;
  session.open_captures.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

void capture_ended(Session& session, Call& call) {
  Block capture;
  if (!take_capture(session, call.effect.stream, capture)) return;
  const std::uint64_t graph = call.effect.output();
  if (number_at(session, AddressSpace::objects, graph) == capture.number) return;
  Block block = block_of(call, {});
  block.address = graph;
  block.number = capture.number;
  begin_block(session, call, block);
}

// A capture that was invalidated ends here too, without a graph. Any other failure leaves it open.
void capture_not_ended(Session& session, Call& call) {
  constexpr int first_capture_error = 900, last_capture_error = 908;
  Block capture;
  if (call.result < first_capture_error || call.result > last_capture_error ||
      !take_capture(session, call.effect.stream, capture))
    return;
  if (capture.owns) end_graph_memory(session, call, capture.number);
}

// A resource remembers where its view is, in the member that objects do not need.
void resource_viewed(Session& session, Call& call) {
  Block block = block_of(call, current_place(session, call));
  block.address = call.effect.output();
  if (block.address == 0) return;
  bool is_new = true;
  session.live.change(AddressSpace::objects, call.effect.owner, [&](Block& resource) {
    is_new = resource.size != block.address;
    resource.size = block.address;
    block.owner = resource.number;
  });
  if (is_new) begin_block(session, call, block);
}

void resources_unmapped(Session& session, Call& call) {
  const auto* resources = static_cast<const void* const*>(call.effect.details);
  for (int i = 0; resources != nullptr && i < call.effect.version; ++i) {
    Block mapped;
    session.live.change(AddressSpace::objects, as_number(resources[i]), [&](Block& resource) {
      mapped = resource;
      resource.size = 0;
    });
    end_view(session, call, mapped);
  }
}

}  // namespace

void end_view(Session& session, const Call& call, const Block& resource) {
  Block view;
  if (session.live.find(AddressSpace::device, resource.size, view) && view.kind == MemoryKind::view &&
      view.owner == resource.number && session.live.take(AddressSpace::device, resource.size, view))
    end_block(session, call, view);
}

void end_capture_on(Session& session, const Call& call, const void* stream) {
  Block capture;
  if (take_capture(session, stream, capture) && capture.owns) end_graph_memory(session, call, capture.number);
}

void end_captures_in(Session& session, const Call& call, std::uint32_t context) {
  Block capture;
  while (session.open_captures.load(std::memory_order_relaxed) > 0 &&
         session.live.find_where(
             [&](const Block& block) { return block.space == AddressSpace::captures && block.context == context; },
             capture) &&
         session.live.take(AddressSpace::captures, capture.address, capture)) {
    session.open_captures.fetch_sub(1, std::memory_order_relaxed);
    if (capture.owns) end_graph_memory(session, call, capture.number);
  }
}

bool join_capture(Session& session, const void* stream, Block& block) {
  std::uint64_t id = 0;
  if (session.open_captures.load(std::memory_order_relaxed) == 0 || !session.driver_usable() ||
      !open_capture(stream, id))
    return false;
  // A stream that has joined by an event shares the number of the one that began.
  Block capture;
  const bool began =
      session.live.find(AddressSpace::captures, capture_key(session, stream), capture) && capture.size == id;
  const auto is_meant = [&](const Block& open) { return open.space == AddressSpace::captures && open.size == id; };
  if (!began && !session.live.find_where(is_meant, capture)) return false;
  session.live.change(AddressSpace::captures, capture.address, [](Block& open) { open.owns = true; });
  block.kind = MemoryKind::graph_memory;
  block.owner = capture.number;
  session.note_graph_memory(block.device);
  return true;
}

void end_graph_memory(Session& session, const Call& call, std::uint64_t graph_number) {
  Block holder;
  const bool is_held = session.live.find_where(
      [&](const Block& block) {
        return (block.kind == MemoryKind::graph && block.number == graph_number) ||
               (block.kind == MemoryKind::graph_exec && block.owner == graph_number);
      },
      holder);
  if (is_held) return;
  end_blocks(session, call,
             [&](const Block& block) { return block.kind == MemoryKind::graph_memory && block.owner == graph_number; });
}

constinit const Handler graph_node{.op = schema::op::alloc, .succeeded = graph_memory_added};
constinit const Handler instantiation{.op = schema::op::alloc, .succeeded = instantiated};
constinit const Handler capture_begin{.op = schema::op::other, .succeeded = capture_begun};
constinit const Handler capture_end{.op = schema::op::alloc, .succeeded = capture_ended, .failed = capture_not_ended};
constinit const Handler resource_view{.op = schema::op::alloc, .succeeded = resource_viewed};
constinit const Handler resource_unmapping{.op = schema::op::free, .succeeded = resources_unmapped};

}  // namespace gpumem
