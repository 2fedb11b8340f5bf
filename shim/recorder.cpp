// From calls to lines: implements observe_before() and observe_after().
//
// A release, and the end of a context, leave their tables before the real call, and come back if it fails.
#include "api/cuda_types.hpp"
#include "intercept/call.hpp"
#include "intercept/driver_queries.hpp"
#include "journal/schema.hpp"
#include "recorded_effects.hpp"
#include "session.hpp"
#include "session_lines.hpp"

namespace gpumem {
namespace {

bool can_hang(Action action) {
  return action == Action::start || action == Action::create_context || action == Action::retain_primary;
}

bool ends_context(Action action) { return op_of(action) == schema::op::context_end; }

void record_failure(Session& session, const Call& call) {
  const Effect& effect = call.effect;
  FailureRecord record;
  static_cast<CallRecord&>(record) = describe(call, op_of(effect.action));
  record.code = call.result;
  record.inner_code = call.outer != nullptr ? call.result : call.inner_result;
  record.took_ns = monotonic_ns() - call.entered_ns;
  record.first = !session.failed_before.exchange(true, std::memory_order_relaxed);
  record.start = !session.context_seen.load(std::memory_order_relaxed);
  record.device = effect.device;
  record.has_memory = effect.action == Action::allocate;
  if (effect.action == Action::release) {
    record.has_pointer = true;
    record.pointer = effect.address;
  }
  if (record.has_memory) {
    const Place place = current_place(session, call);
    record.context = place.context;
    record.kind = effect.kind;
    record.size = effect.size;
    if (effect.kind != MemoryKind::pinned) record.device = place.device;
    record.live = session.totals.live(record.device, effect.kind);
    write_failure(session, record);
    constexpr int out_of_memory = 2;
    if (call.result == out_of_memory) write_memory_sample(session, place.device, schema::why::failure);
    return;
  }
  write_failure(session, record);
}

// A context leaves the table before the real call too: its handle may be another thread's new context at once. Only a
// release, which may not end it, does not.
void take_context(Session& session, std::uint64_t handle, Call& call) { session.contexts.end(handle, call.context); }

void put_back(Session& session, const Call& call) {
  if (call.context.number != 0 && call.effect.action != Action::release_primary) session.contexts.restore(call.context);
  if (!call.has_taken) return;
  Block displaced;
  session.live.insert(call.taken, displaced);
  session.totals.add(call.taken.device, call.taken.kind, call.taken.size);
}

// Part of a bigger call: the outer call's record names both where they do the same thing, and tells the first failure.
bool belongs_to_outer(const Call& call) {
  RunningCall& outer = *call.outer;
  if (call.effect.action == Action::resolve || call.effect.action == Action::tell_version) return true;
  if (call.result != cuda_success) {
    if (outer.action == Action::resolve) return false;
    if (outer.inner_result == cuda_success) {
      outer.inner = call.api;
      outer.inner_result = call.result;
    }
    return true;
  }
  const Action action = call.effect.action;
  const bool same_memory = (action == Action::allocate || action == Action::release) && action == outer.action;
  if (!same_memory && !(ends_context(action) && ends_context(outer.action))) return false;
  if (outer.inner_result == cuda_success) outer.inner = call.api;
  return true;
}

}  // namespace

void observe_before(Call& call) {
  const Action action = call.effect.action;
  if (action == Action::resolve || action == Action::tell_version) return;
  Session* current = session();
  if (current == nullptr) return;
  std::uint64_t handle = 0;
  int device = no_device;
  switch (action) {
    case Action::release:
      call.has_taken = current->live.take(address_space(call.effect.kind), call.effect.address, call.taken);
      if (call.has_taken) current->totals.subtract(call.taken.device, call.taken.kind, call.taken.size);
      break;
    case Action::destroy_context: take_context(*current, call.effect.address, call); break;
    case Action::release_primary: current->contexts.find_primary(call.effect.device, call.context); break;
    case Action::reset_primary:
      if (current->contexts.find_primary(call.effect.device, call.context))
        take_context(*current, call.context.handle, call);
      break;
    case Action::reset_current:
      if (current->driver_usable() && current_context(handle, device)) take_context(*current, handle, call);
      break;
    default: break;
  }
  call.entered_ns = monotonic_ns();
  if (!can_hang(action) || current->has_started(call.api, call.effect.device)) return;
  EventRecord begin = event_of(call, schema::op::begin);
  if (call.outer != nullptr) begin.inner = call.api;
  begin.device = call.effect.device;
  write_event(*current, begin, false);
}

void observe_after(Call& call) {
  Session* current = session();
  if (current == nullptr) return;
  if (call.result != cuda_success) put_back(*current, call);
  // A runtime that refuses the driver unloads it before the call that failed can be recorded.
  if (call.effect.action == Action::resolve) write_providers(*current);
  if (call.outer != nullptr && belongs_to_outer(call)) return;
  if (call.effect.action == Action::resolve) return;
  if (call.result == cuda_success) {
    record_success(*current, call);
  } else {
    record_failure(*current, call);
  }
}

}  // namespace gpumem
