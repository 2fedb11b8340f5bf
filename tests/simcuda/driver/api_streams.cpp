// SPDX-License-Identifier: Apache-2.0
// Streams and events. Work is done before the call that queues it returns, so nothing ever waits.
#include <algorithm>
#include <thread>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

constexpr int greatest_priority = -5;
constexpr unsigned disable_timing = 2;

template <class Body>
status with_stream(stream* queue, Body body) {
  const locked_machine sim;
  return sim->usable(queue) ? body(*sim) : status::invalid_handle;
}

template <class Body>
status with_event(event* mark, Body body) {
  const locked_machine sim;
  return sim->events.contains(mark) ? body(*sim) : status::invalid_handle;
}

/// The stream's own properties; the default streams have those of a stream made without any wish.
stream properties_of(machine& sim, stream* queue) {
  if (sim.streams.contains(queue)) return *queue;
  return {&current_context(), 0, 0, std::max<std::uint64_t>(1, reinterpret_cast<std::uintptr_t>(queue))};
}

/// Host functions run on a thread of the driver, never on the caller's.
template <class Function>
void run_on_driver_thread(Function function) {
  std::thread(function).join();
}

}  // namespace

status cuStreamCreateWithPriority(stream** out, unsigned flags, int priority) {
  constexpr unsigned non_blocking = 1;
  if (!out || flags & ~non_blocking) return status::invalid_value;
  const locked_machine sim;
  const int usable_priority = std::clamp(priority, greatest_priority, 0);
  *out = sim->streams.create(&current_context(), flags, usable_priority, sim->next_stream_id++);
  return status::success;
}

status cuStreamCreate(stream** out, unsigned flags) { return cuStreamCreateWithPriority(out, flags, 0); }

status cuStreamDestroy(stream* queue) {
  const locked_machine sim;
  return sim->streams.destroy(queue) ? status::success : status::invalid_handle;
}

status cuStreamSynchronize(stream* queue) {
  return with_stream(queue, [&](machine& sim) {
    sim.synchronize(properties_of(sim, queue).made_in->owner);
    return status::success;
  });
}

status cuStreamQuery(stream* queue) {
  return with_stream(queue, [](machine&) { return status::success; });
}

status cuStreamGetPriority(stream* queue, int* priority) {
  if (!priority) return status::invalid_value;
  return with_stream(queue, [&](machine& sim) {
    *priority = properties_of(sim, queue).priority;
    return status::success;
  });
}

status cuStreamGetFlags(stream* queue, unsigned* flags) {
  if (!flags) return status::invalid_value;
  return with_stream(queue, [&](machine& sim) {
    *flags = properties_of(sim, queue).flags;
    return status::success;
  });
}

status cuStreamGetId(stream* queue, unsigned long long* id) {
  if (!id) return status::invalid_value;
  return with_stream(queue, [&](machine& sim) {
    *id = properties_of(sim, queue).id;
    return status::success;
  });
}

status cuStreamGetCtx(stream* queue, context** out) {
  if (!out) return status::invalid_value;
  return with_stream(queue, [&](machine& sim) {
    *out = properties_of(sim, queue).made_in;
    return status::success;
  });
}

status cuStreamGetDevice(stream* queue, device_ordinal* out) {
  if (!out) return status::invalid_value;
  return with_stream(queue, [&](machine& sim) {
    *out = properties_of(sim, queue).made_in->owner.ordinal();
    return status::success;
  });
}

status cuStreamWaitEvent(stream* queue, event* mark, unsigned) {
  return with_event(mark, [&](machine& sim) { return sim.usable(queue) ? status::success : status::invalid_handle; });
}

status cuStreamIsCapturing(stream* queue, int* capturing) {
  if (!capturing) return status::invalid_value;
  return with_stream(queue, [&](machine&) {
    *capturing = 0;
    return status::success;
  });
}

status cuStreamAddCallback(stream* queue, void (*callback)(stream*, status, void*), void* data, unsigned flags) {
  if (!callback || flags) return status::invalid_value;
  const status usable = cuStreamQuery(queue);
  if (usable == status::success) run_on_driver_thread([=] { callback(queue, status::success, data); });
  return usable;
}

status cuLaunchHostFunc(stream* queue, host_function callback, void* data) {
  if (!callback) return status::invalid_value;
  const status usable = cuStreamQuery(queue);
  if (usable == status::success) run_on_driver_thread([=] { callback(data); });
  return usable;
}

status cuEventCreate(event** out, unsigned flags) {
  constexpr unsigned known_flags = 7;
  if (!out || flags & ~known_flags) return status::invalid_value;
  const locked_machine sim;
  *out = sim->events.create(&current_context(), flags, std::nullopt);
  return status::success;
}

status cuEventDestroy(event* mark) {
  const locked_machine sim;
  return sim->events.destroy(mark) ? status::success : status::invalid_handle;
}

status cuEventRecord(event* mark, stream* queue) {
  return with_event(mark, [&](machine& sim) {
    if (!sim.usable(queue)) return status::invalid_handle;
    mark->recorded = std::chrono::steady_clock::now();
    return status::success;
  });
}

status cuEventRecordWithFlags(event* mark, stream* queue, unsigned) { return cuEventRecord(mark, queue); }

status cuEventQuery(event* mark) {
  return with_event(mark, [](machine&) { return status::success; });
}

status cuEventSynchronize(event* mark) {
  return with_event(mark, [&](machine& sim) {
    sim.synchronize(mark->made_in->owner);
    return status::success;
  });
}

status cuEventElapsedTime(float* milliseconds, event* start, event* end) {
  if (!milliseconds) return status::invalid_value;
  const locked_machine sim;
  for (event* mark : {start, end}) {
    if (!sim->events.contains(mark) || mark->flags & disable_timing || !mark->recorded) return status::invalid_handle;
  }
  *milliseconds = std::chrono::duration<float, std::milli>(*end->recorded - *start->recorded).count();
  return status::success;
}

}  // namespace simcuda::api
