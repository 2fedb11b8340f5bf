#include "record/events.hpp"

#include "api/cuda_types.hpp"
#include "intercept/driver_queries.hpp"
#include "journal/schema.hpp"
#include "record/samples.hpp"
#include "session.hpp"
#include "session_lines.hpp"

namespace gpumem {

CallRecord describe(const Call& call, std::string_view op) {
  CallRecord record;
  record.op = op;
  record.api = call.outermost;
  record.inner = call.outermost != call.api ? call.api : call.inner;
  record.stream = call.effect.stream;
  return record;
}

EventRecord event_of(const Call& call, std::string_view op) {
  EventRecord record;
  static_cast<CallRecord&>(record) = describe(call, op);
  return record;
}

void write_context(Session& session, EventRecord record, const Context& context) {
  const bool starts_cuda = !session.context_seen.exchange(true, std::memory_order_relaxed);
  record.op = schema::op::context;
  record.handle = context.handle;
  record.context = context.number;
  record.device = context.device;
  record.primary = context.primary;
  write_event(session, record, true);
  write_device_once(session, context.device);
  if (!starts_cuda) return;
  write_gpu_libraries(session);
  sample_host(session, schema::why::context);
}

Place current_place(Session& session, const Call& call) {
  std::uint64_t handle = 0;
  int device = no_device;
  if (call.result == cuda_not_permitted || !session.driver_usable() || !current_context(handle, device)) return {};
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

}  // namespace gpumem
