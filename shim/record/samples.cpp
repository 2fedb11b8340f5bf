#include "record/samples.hpp"

#include "api/settings.hpp"
#include "forensics/process_state.hpp"
#include "intercept/driver_queries.hpp"
#include "journal/schema.hpp"
#include "record/blocks.hpp"
#include "record/handlers.hpp"
#include "session_lines.hpp"

namespace gpumem {
namespace {

bool may_ask(const Session& session) {
  return session.driver_usable() && session.open_captures.load(std::memory_order_relaxed) == 0;
}

bool is_power_of_ten(std::uint64_t number) {
  while (number != 0 && number % 10 == 0) number /= 10;
  return number == 1;
}

void pool_chosen(Session& session, Call& call) {
  session.set_current_pool(call.effect.device, number_at(session, AddressSpace::objects, call.effect.owner));
}

void limit_changed(Session& session, Call& call) {
  const Place place = current_place(session, call);
  EventRecord record = event_of(call, schema::op::limit);
  record.limit = call.effect.version;
  record.size = call.effect.size;
  record.device = place.device;
  write_event(session, record, true);
  sample(session, place.device, schema::why::limit);
}

// Memory is shared whole, whichever part of it the call named.
std::uint64_t exported_block(Session& session, const Effect& effect) {
  Block block;
  if (effect.kind == MemoryKind::physical)
    return session.live.find(AddressSpace::handles, effect.address, block) ? block.owner : 0;
  const AddressSpace space = address_space(effect.kind);
  if (space != AddressSpace::device) return number_at(session, space, effect.address);
  if (block_containing(session, space, effect.address, block)) return block.number;
  return block_containing(session, AddressSpace::mappings, effect.address, block) ? block.owner : 0;
}

void exported(Session& session, Call& call) {
  const Effect& effect = call.effect;
  EventRecord record = event_of(call, schema::op::exported);
  record.has_address = true;
  record.address = effect.address;
  record.block = exported_block(session, effect);
  write_event(session, record, true);
}

void launched(Session& session, Call& call) {
  const std::uint64_t count = session.launches.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool is_sampled = is_power_of_ten(count);
  if (!is_sampled && !session.sample_due(call.entered_ns)) return;
  const Place place = current_place(session, call);
  if (is_sampled) return sample(session, place.device, schema::why::launch);
  sample_if_due(session, call, place.device);
}

void trimmed(Session& session, Call& call) {
  const std::uint64_t pool = call.effect.owner;
  sample_pool(session, number_at(session, AddressSpace::objects, pool), pool, schema::why::trim);
  sample(session, current_place(session, call).device, schema::why::trim);
}

}  // namespace

void sample(Session& session, int device, std::string_view why) {
  if (device == no_device || !may_ask(session)) return;
  SampleRecord record;
  record.why = why;
  record.device = device;
  if (!memory_info(record.free, record.total)) return;
  session.note_sample(monotonic_ns());
  ReservedMemory memory;
  if (session.uses_pool(device) && default_pool_memory(device, memory)) {
    record.has_pool = true;
    record.pool_reserved = memory.reserved;
    record.pool_used = memory.used;
  }
  if (session.uses_graph_memory(device) && graph_memory(device, memory)) {
    record.has_graphs = true;
    record.graph_reserved = memory.reserved;
    record.graph_used = memory.used;
  }
  write_sample(session, record);
}

void sample_pool(Session& session, std::uint64_t number, std::uint64_t handle, std::string_view why) {
  ReservedMemory memory;
  if (handle == 0 || number == 0 || !may_ask(session) || !pool_memory(reinterpret_cast<const void*>(handle), memory))
    return;
  Block pool;
  session.live.find(AddressSpace::objects, handle, pool);
  SampleRecord record;
  record.why = why;
  record.device = pool.device;
  record.pool = number;
  record.has_pool = true;
  record.pool_reserved = memory.reserved;
  record.pool_used = memory.used;
  write_sample(session, record);
}

void sample_host(Session& session, std::string_view why) {
  session.note_host_sample(monotonic_ns());
  ProcessState process;
  gather_process_memory(process);
  const MemoryGroupState group = memory_group_state(session.memory_group);
  HostRecord record;
  record.why = why;
  record.resident = process.resident_bytes;
  record.swapped = process.swapped_bytes;
  record.pinned = session.totals.live(no_device);
  record.available = available_memory();
  record.group_used = group.used;
  record.group_limit = group.limit;
  record.group_kills = group.kills;
  char buffer[512];
  Line line(buffer, sizeof buffer);
  write_host(line, session.stamp(), record);
  session.write(line);
}

void sample_if_due(Session& session, const Call& call, int device) {
  session.write_totals_if_due(call.entered_ns);
  if (session.host_sample_due(call.entered_ns)) sample_host(session, schema::why::time);
  if (session.sample_due(call.entered_ns)) sample(session, device, schema::why::time);
}

constinit const Handler pool_choice{.op = schema::op::other, .succeeded = pool_chosen};
constinit const Handler limit_change{.op = schema::op::limit, .succeeded = limit_changed};
constinit const Handler export_{.op = schema::op::exported, .succeeded = exported};
constinit const Handler launch{.op = schema::op::launch, .succeeded = launched};
constinit const Handler trimming{.op = schema::op::other, .succeeded = trimmed};
constinit const Handler memory_need{.op = schema::op::other};
constinit const Handler use{.op = schema::op::other};

}  // namespace gpumem
