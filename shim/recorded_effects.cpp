#include "recorded_effects.hpp"

#include "intercept/driver_queries.hpp"
#include "intercept/runtimes.hpp"
#include "journal/schema.hpp"
#include "session.hpp"
#include "session_lines.hpp"

namespace gpumem {

std::string_view op_of(Action action) {
  switch (action) {
    case Action::resolve:
    case Action::tell_version:
    case Action::start: return schema::op::init;
    case Action::create_context:
    case Action::retain_primary: return schema::op::context;
    case Action::destroy_context:
    case Action::release_primary:
    case Action::reset_primary:
    case Action::reset_current: return schema::op::context_end;
    case Action::allocate: return schema::op::alloc;
    case Action::release: return schema::op::free;
  }
  return {};
}

CallRecord describe(const Call& call, std::string_view op) {
  CallRecord record;
  record.op = op;
  record.api = call.outermost;
  record.inner = call.outer != nullptr ? call.api : call.inner;
  record.stream = call.effect.stream;
  return record;
}

EventRecord event_of(const Call& call, std::string_view op) {
  EventRecord record;
  static_cast<CallRecord&>(record) = describe(call, op);
  return record;
}

namespace {

void write_context(Session& session, EventRecord record, const Context& context) {
  session.context_seen.store(true, std::memory_order_relaxed);
  record.op = schema::op::context;
  record.handle = context.handle;
  record.context = context.number;
  record.device = context.device;
  record.primary = context.primary;
  write_event(session, record, true);
  write_device_once(session, context.device);
}

}  // namespace

Place current_place(Session& session, const Call& call) {
  std::uint64_t handle = 0;
  int device = no_device;
  if (!session.driver_usable() || !current_context(handle, device)) return {};
  Context context;
  if (!session.contexts.find(handle, context)) {
    bool primary = false, fresh = false;
    primary_context_active(device, primary);
    context = session.contexts.born(handle, device, primary, fresh);
    if (fresh) {
      EventRecord record = event_of(call, schema::op::context);
      record.inner = ApiId::none;
      record.found = true;
      write_context(session, record, context);
    }
  }
  return {context.number, device};
}

namespace {

// A block that the live table has no room for belongs to no total either: its release could not be told.
void track(Session& session, EventRecord& record) {
  const Block block{record.address,
                    record.size,
                    session.last_block.fetch_add(1, std::memory_order_relaxed) + 1,
                    record.context,
                    static_cast<std::int16_t>(record.device),
                    record.kind};
  Block displaced;
  switch (session.live.insert(block, displaced)) {
    case LiveTable::Inserted::no_memory:
      session.lost_blocks.fetch_add(1, std::memory_order_relaxed);
      record.untracked = true;
      return;
    case LiveTable::Inserted::replaced:
      session.totals.subtract(displaced.device, displaced.kind, displaced.size);
      break;
    case LiveTable::Inserted::fresh: break;
  }
  record.block = block.number;
  record.live = session.totals.add(record.device, record.kind, record.size);
}

void record_allocation(Session& session, const Call& call) {
  const Effect& effect = call.effect;
  EventRecord record = event_of(call, schema::op::alloc);
  record.has_memory = record.has_address = true;
  record.kind = effect.kind;
  record.size = effect.size;
  record.address = effect.output();
  const Place place = current_place(session, call);
  record.context = place.context;
  if (effect.kind != MemoryKind::pinned) record.device = place.device;
  record.live = session.totals.live(record.device, effect.kind);
  if (record.address != 0) track(session, record);
  write_event(session, record, true);
  if (effect.kind != MemoryKind::async && session.first_use_of(place.context))
    write_memory_sample(session, place.device, schema::why::context);
}

void record_release(Session& session, const Call& call) {
  EventRecord record = event_of(call, schema::op::free);
  record.has_address = true;
  record.address = call.effect.address;
  if (call.has_taken) {
    record.has_memory = true;
    record.kind = call.taken.kind;
    record.size = call.taken.size;
    record.block = call.taken.number;
    record.device = call.taken.device;
    record.live = session.totals.live(record.device, record.kind);
  } else {
    record.unknown_pointer = true;
  }
  write_event(session, record, false);
}

void record_start(Session& session, const Call& call) {
  if (call.api == ApiId::cuInit) session.initialized.store(true, std::memory_order_relaxed);
  if (!session.first_start(call.api, call.effect.device)) return;
  EventRecord record = event_of(call, schema::op::init);
  record.device = call.effect.device;
  record.took_ns = monotonic_ns() - call.entered_ns;
  write_event(session, record, true);
}

void record_birth(Session& session, const Call& call) {
  const Effect& effect = call.effect;
  bool fresh = false;
  const Context context =
      session.contexts.born(effect.output(), effect.device, effect.action == Action::retain_primary, fresh);
  if (!fresh) return;
  EventRecord record = event_of(call, schema::op::context);
  record.took_ns = monotonic_ns() - call.entered_ns;
  write_context(session, record, context);
}

void record_context_end(Session& session, const Call& call) {
  bool still_active = false;
  if (call.effect.action == Action::release_primary &&
      (!session.driver_usable() || !primary_context_active(call.effect.device, still_active) || still_active))
    return;
  Context ended = call.context;
  if (call.effect.action == Action::release_primary && !session.contexts.end(ended.handle, ended)) return;
  if (ended.number == 0) return;
  EventRecord record = event_of(call, schema::op::context_end);
  record.handle = ended.handle;
  record.context = ended.number;
  record.device = ended.device;
  record.primary = ended.primary;
  record.has_dropped = true;
  session.live.take_context(ended.number, [&](const Block& block) {
    session.totals.subtract(block.device, block.kind, block.size);
    ++record.dropped_blocks;
    record.dropped_bytes += block.size;
  });
  write_event(session, record, true);
}

// A runtime of a newer major version than the driver refuses it: it never calls cuInit, and answers everything with
// this code. Where the runtime is linked statically, its question for the version is all there is to see of that.
void record_refusal(Session& session, const Call& call) {
  constexpr int insufficient_driver = 35, major = 1000;
  RuntimeCopy runtime;
  const int driver = *static_cast<const int*>(call.effect.out);
  if (!runtime_copy_at(reinterpret_cast<std::uintptr_t>(call.caller), runtime)) return;
  if (driver <= 0 || runtime.asks / major <= driver / major) return;
  FailureRecord record;
  static_cast<CallRecord&>(record) = describe(call, schema::op::init);
  record.code = insufficient_driver;
  record.inferred = true;
  record.first = !session.failed_before.exchange(true, std::memory_order_relaxed);
  record.start = !session.context_seen.load(std::memory_order_relaxed);
  write_failure(session, record);
}

}  // namespace

void record_success(Session& session, const Call& call) {
  switch (call.effect.action) {
    case Action::resolve: return;
    case Action::tell_version: return record_refusal(session, call);
    case Action::start: return record_start(session, call);
    case Action::create_context:
    case Action::retain_primary: return record_birth(session, call);
    case Action::destroy_context:
    case Action::release_primary:
    case Action::reset_primary:
    case Action::reset_current: return record_context_end(session, call);
    case Action::allocate: return record_allocation(session, call);
    case Action::release: return record_release(session, call);
  }
}

}  // namespace gpumem
