// The start of CUDA, and the contexts that memory lives in.
#include "intercept/driver_queries.hpp"
#include "intercept/runtimes.hpp"
#include "journal/schema.hpp"
#include "record/blocks.hpp"
#include "record/graphs.hpp"
#include "record/handlers.hpp"
#include "record/pictures.hpp"
#include "session_lines.hpp"

namespace gpumem {
namespace {

void started(Session& session, Call& call) {
  if (call.api == ApiId::cuInit) session.initialized.store(true, std::memory_order_relaxed);
  if (!session.first_start(call.api, call.effect.device)) return;
  EventRecord record = event_of(call, schema::op::init);
  record.device = call.effect.device;
  record.took_ns = monotonic_ns() - call.entered_ns;
  if (call.api == ApiId::cuInit) return write_start_of_cuda(session, record);
  write_event(session, record, true);
}

// A runtime of a newer major version than the driver refuses it: it never calls cuInit, and answers everything with
// this code. Where the runtime is linked statically, its question for the version is all there is to see of that.
void version_told(Session& session, Call& call) {
  constexpr int insufficient_driver = 35, major = 1000;
  RuntimeCopy runtime;
  if (call.effect.out == nullptr || !runtime_copy_at(reinterpret_cast<std::uintptr_t>(call.caller), runtime)) return;
  const int driver = *static_cast<const int*>(call.effect.out);
  if (driver <= 0 || runtime.asks / major <= driver / major) return;
  FailureRecord record;
  static_cast<CallRecord&>(record) = describe(call, schema::op::init);
  record.code = insufficient_driver;
  record.inferred = true;
  record.first = !session.failed_before.exchange(true, std::memory_order_relaxed);
  record.start = !session.context_seen.load(std::memory_order_relaxed);
  write_failure(session, record);
  take_picture(session, record);
}

void context_born(Session& session, Call& call) {
  const Effect& effect = call.effect;
  bool fresh = false;
  const Context context =
      session.contexts.born(effect.output(), effect.device, effect.action == Action::retain_primary, fresh);
  if (!fresh) return;
  EventRecord record = event_of(call, schema::op::context);
  record.took_ns = monotonic_ns() - call.entered_ns;
  write_context(session, record, context);
}

// A context leaves the table before the real call: its handle may be another thread's new context at once.
void take_context(Session& session, std::uint64_t handle, Call& call) { session.contexts.end(handle, call.context); }

void before_destruction(Session& session, Call& call) { take_context(session, call.effect.address, call); }

void before_reset(Session& session, Call& call) {
  if (session.contexts.find_primary(call.effect.device, call.context)) take_context(session, call.context.handle, call);
}

// Only what may not end the context does not take it.
void before_primary_release(Session& session, Call& call) {
  session.contexts.find_primary(call.effect.device, call.context);
}

// The runtime's reset tells its device, if at all, by the driver's calls inside it.
void before_current_reset(Session& session, Call& call) {
  std::uint64_t handle = 0;
  if (session.driver_usable() && current_context(handle, call.effect.device)) before_primary_release(session, call);
}

void not_ended(Session& session, Call& call) {
  if (call.context.number != 0) session.contexts.restore(call.context);
}

void context_ended(Session& session, Call& call) {
  const Context& ended = call.context;
  if (ended.number == 0) return;
  EventRecord record = event_of(call, schema::op::context_end);
  record.handle = ended.handle;
  record.context = ended.number;
  record.device = ended.device;
  record.primary = ended.primary;
  record.has_dropped = true;
  const auto ends_with_it = [&](const Block& block) { return block.context == ended.number; };
  // These let go of memory that outlives the context.
  end_captures_in(session, call, ended.number);
  end_blocks(session, call,
             [&](const Block& block) { return ends_with_it(block) && block.space == AddressSpace::tiles; });
  session.live.take_where(ends_with_it, [&](const Block& block) {
    count_out(session, block);
    ++record.dropped_blocks;
    record.dropped_bytes += is_object(block.kind) ? 0 : block.size;
  });
  write_event(session, record, true);
}

void primary_released(Session& session, Call& call) {
  bool still_active = false;
  if (!session.driver_usable() || !primary_context_active(call.effect.device, still_active) || still_active) return;
  Context now;
  if (session.contexts.find(call.context.handle, now) && now.number == call.context.number &&
      session.contexts.end(call.context.handle, call.context))
    context_ended(session, call);
}

}  // namespace

constinit const Handler starting{.op = schema::op::init, .can_hang = true, .succeeded = started};
constinit const Handler version_answer{.op = schema::op::init, .succeeded = version_told};
constinit const Handler context_creation{.op = schema::op::context, .can_hang = true, .succeeded = context_born};
constinit const Handler primary_retain{.op = schema::op::context, .can_hang = true, .succeeded = context_born};
constinit const Handler context_destruction{
    .op = schema::op::context_end, .before = before_destruction, .succeeded = context_ended, .failed = not_ended};
constinit const Handler primary_release{
    .op = schema::op::context_end, .before = before_primary_release, .succeeded = primary_released};
constinit const Handler primary_reset{
    .op = schema::op::context_end, .before = before_reset, .succeeded = context_ended, .failed = not_ended};
constinit const Handler current_reset{
    .op = schema::op::context_end, .before = before_current_reset, .succeeded = primary_released};

}  // namespace gpumem
