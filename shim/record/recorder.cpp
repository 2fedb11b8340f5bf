// From calls to lines: implements observe_before() and observe_after().
#include "api/cuda_types.hpp"
#include "checkpoint.hpp"
#include "intercept/call.hpp"
#include "intercept/driver_queries.hpp"
#include "journal/schema.hpp"
#include "record/events.hpp"
#include "record/handlers.hpp"
#include "record/pictures.hpp"
#include "record/samples.hpp"
#include "session.hpp"
#include "session_lines.hpp"

namespace gpumem {

const Handler& handler_of(Action action) {
  switch (action) {
    case Action::resolve:
    case Action::start: return starting;
    case Action::tell_version: return version_answer;
    case Action::create_context: return context_creation;
    case Action::retain_primary: return primary_retain;
    case Action::destroy_context: return context_destruction;
    case Action::release_primary: return primary_release;
    case Action::reset_primary: return primary_reset;
    case Action::reset_current: return current_reset;
    case Action::allocate: return allocation;
    case Action::allocate_from: return pool_allocation;
    case Action::add_reference: return reopening;
    case Action::set_up_memory: return registration;
    case Action::release: return release;
    case Action::create_physical: return physical_creation;
    case Action::retain_physical: return physical_retain;
    case Action::release_physical: return physical_release;
    case Action::map: return mapping;
    case Action::unmap: return unmapping;
    case Action::map_tiles: return tile_mapping;
    case Action::bind: return binding;
    case Action::bind_address: return address_binding;
    case Action::unbind: return unbinding;
    case Action::add_graph_memory: return graph_node;
    case Action::instantiate: return instantiation;
    case Action::begin_capture: return capture_begin;
    case Action::end_capture: return capture_end;
    case Action::view_resource: return resource_view;
    case Action::unmap_resources: return resource_unmapping;
    case Action::set_pool: return pool_choice;
    case Action::set_limit: return limit_change;
    case Action::make_available: return export_;
    case Action::launch: return launch;
    case Action::trim: return trimming;
    case Action::need_memory: return memory_need;
    case Action::use: return use;
  }
  return use;
}

namespace {

bool is_release(Action action) {
  return action == Action::release || action == Action::release_physical || action == Action::unmap;
}

// A cudaFree that starts CUDA does not say on which device; the calls inside it do.
int device_of(const Call& call) { return call.effect.device != no_device ? call.effect.device : call.inner_device; }

// A runtime can start, and fail, beside contexts that the program made itself, and on one device after another.
bool could_not_start(const Session& session, const Call& call) {
  if (!session.context_seen.load(std::memory_order_relaxed)) return true;
  const bool can_start = call.effect.action == Action::start || call.effect.action == Action::use;
  const ApiId failed = call.inner != ApiId::none ? call.inner : call.api;
  return can_start && (failed == ApiId::cuInit || failed == ApiId::cuDevicePrimaryCtxRetain);
}

// To a mere question, that there is no such thing is an answer, and so is that CUDA has ended, which destructors ask.
bool has_failed(const Call& call) {
  constexpr int invalid_value = 1, deinitialized = 4;
  if (call.effect.action == Action::use && (call.result == invalid_value || call.result == deinitialized)) return false;
  return call.result != cuda_success;
}

void write_failed_call(Session& session, const Call& call, FailureRecord& record) {
  const Effect& effect = call.effect;
  const std::string_view op = handler_of(effect.action).op;
  static_cast<CallRecord&>(record) = describe(call, op);
  record.code = call.result;
  record.inner_code = call.outer != nullptr ? call.result : call.inner_result;
  record.took_ns = monotonic_ns() - call.entered_ns;
  record.first = !session.failed_before.exchange(true, std::memory_order_relaxed);
  record.start = could_not_start(session, call);
  record.has_memory = op == schema::op::alloc;
  record.device = record.has_memory ? effect.device : device_of(call);
  if (is_release(effect.action)) {
    record.has_pointer = true;
    record.pointer = effect.address;
  }
  if (!record.has_memory) return write_failure(session, record);
  const Place place = current_place(session, call);
  record.context = place.context;
  record.kind = effect.kind;
  record.size = effect.size;
  if (!is_host_memory(effect.kind) && record.device == no_device) record.device = place.device;
  record.live = session.totals.live(record.device, effect.kind);
  write_failure(session, record);
  constexpr int out_of_memory = 2;
  if (call.result != out_of_memory) return;
  sample(session, place.device, schema::why::failure);
  sample_host(session, schema::why::failure);
}

void record_failure(Session& session, const Call& call) {
  FailureRecord record;
  write_failed_call(session, call, record);
  take_picture(session, record);
}

// Whether a call inside another is how that one does its work, so that there is one thing to tell.
bool is_same_thing(const RunningCall& outer, const Effect& effect) {
  if (effect.action != outer.action || effect.action == Action::start || effect.action == Action::create_context ||
      effect.action == Action::retain_primary || effect.action == Action::use)
    return false;
  if (is_release(effect.action)) return effect.address == outer.address;
  return effect.kind == outer.kind;
}

// Libraries that pass calls on under the same names, as TensorFlow's does, are seen through.
bool is_passed_on(const Call& call) { return call.outer != nullptr && call.outer->api == call.api; }

void tell_outer(const Call& call) {
  RunningCall& outer = *call.outer;
  if (outer.inner_result != cuda_success) return;
  outer.inner = is_passed_on(call) ? call.inner : call.api;
  outer.inner_result = is_passed_on(call) ? call.inner_result : call.result;
  outer.inner_device = device_of(call);
}

// Part of a bigger call: the outer call's record names both where they do the same thing, and tells the first failure.
bool belongs_to_outer(const Call& call) {
  const RunningCall& outer = *call.outer;
  if (call.effect.action == Action::resolve || call.effect.action == Action::tell_version) return true;
  if (has_failed(call)) {
    if (outer.action == Action::resolve) return false;
    tell_outer(call);
    return true;
  }
  if (!is_same_thing(outer, call.effect)) return false;
  tell_outer(call);
  return true;
}

// Loading code waits for the device, and the first launch of a kernel can load some.
bool loads_code(const Effect& effect) {
  return effect.action == Action::launch || (effect.action == Action::allocate &&
                                             (effect.kind == MemoryKind::module || effect.kind == MemoryKind::library));
}

// Whether the call may never return: then its entry must be in the journal. Any call can be the one that starts CUDA.
bool may_hang(Session& session, const Call& call) {
  if (handler_of(call.effect.action).can_hang) return !session.has_started(call.api, call.effect.device);
  const bool has_started = session.context_seen.load(std::memory_order_relaxed);
  return (!has_started || loads_code(call.effect)) && session.first_entry(call.api);
}

void write_entry(Session& session, ApiId outermost, ApiId entered, int device) {
  EventRecord record;
  record.op = schema::op::begin;
  record.api = outermost;
  if (entered != outermost) record.inner = entered;
  record.device = device;
  write_event(session, record, true);
}

}  // namespace

void observe_before(Call& call) {
  const Action action = call.effect.action;
  if (action == Action::resolve || action == Action::tell_version) return;
  Session* current = session();
  if (current == nullptr) return;
  const Handler& handler = handler_of(action);
  const bool is_part = call.outer != nullptr && is_same_thing(*call.outer, call.effect);
  if (handler.before != nullptr && !is_part) handler.before(*current, call);
  call.entered_ns = monotonic_ns();
  if (is_passed_on(call)) {
    call.entry_written = call.outer->entry_written;  // the outer one's entry stands for both
    return;
  }
  if (!may_hang(*current, call)) return;
  call.entry_written = true;
  write_entry(*current, call.outermost, call.api, call.effect.device);
}

namespace {

void record_outcome(Session& session, Call& call) {
  const Handler& handler = handler_of(call.effect.action);
  const bool succeeded = !has_failed(call);
  if (!succeeded && handler.failed != nullptr) handler.failed(session, call);
  // A runtime that refuses the driver, or could not start it, unloads it before its own call can be recorded.
  if (call.effect.action == Action::resolve) write_providers(session);
  if (!succeeded && call.api == ApiId::cuInit && session.driver_usable()) keep_driver_log();
  if (call.outer != nullptr && belongs_to_outer(call)) return;
  if (call.effect.action == Action::resolve) return;
  if (!succeeded) return record_failure(session, call);
  if (call.effect.complete != nullptr) call.effect.complete(call.effect);
  if (handler.succeeded != nullptr) handler.succeeded(session, call);
  // What this one wrote would end the entry of the call around it, which still runs.
  const bool has_written = handler.succeeded != nullptr || call.entry_written;
  if (has_written && call.outer != nullptr && call.outer->entry_written && !is_passed_on(call))
    write_entry(session, call.outermost, call.outer->api, no_device);
}

}  // namespace

void observe_after(Call& call) {
  Session* current = session();
  if (current == nullptr) return;
  record_outcome(*current, call);
  tend_journal(*current, call.entered_ns);
}

}  // namespace gpumem
