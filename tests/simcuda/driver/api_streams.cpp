// SPDX-License-Identifier: Apache-2.0
// Streams. Work is done before the call that queues it returns, so nothing ever waits.
#include <algorithm>
#include <thread>

#include "driver/api.h"
#include "driver/call_gate.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

constexpr int greatest_priority = -5;

template <class Body>
status with_stream(stream* queue, Body body) {
  const locked_machine sim;
  return sim->usable(queue) ? body(*sim) : status::invalid_handle;
}

/// The stream's own properties; the default streams have those of a stream made without any wish.
stream properties_of(machine& sim, stream* queue) {
  if (sim.streams.contains(queue)) return *queue;
  return {&current_context(), 0, 0, std::max<std::uint64_t>(1, reinterpret_cast<std::uintptr_t>(queue))};
}

/// Host functions run on a thread of the driver, never on the caller's.
template <class Function>
status queue_host_work(stream* queue, Function function) {
  const auto work = [=] {
    std::thread([=] {
      mark_host_function_thread();
      function();
    }).join();
  };
  bool captured = false;
  status result = status::success;
  {
    const locked_machine sim;
    result = sim->queue_work(queue, node_type::host, work, captured);
  }
  if (result == status::success && !captured) work();
  return result;
}

/// A call that waits for the stream, or asks whether it is done: not while it is being captured.
status refuse_in_capture(machine& sim, const stream* queue) {
  stream_capture* capture = sim.capture_of(queue);
  if (!capture) return status::success;
  capture->invalidated = true;
  return status::capture_unsupported;
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
  if (stream_capture* capture = sim->capture_of(queue)) {
    if (capture->origin == queue)
      sim->graphs.end(*capture);
    else
      capture->invalidated = true;
  }
  return sim->streams.destroy(queue) ? status::success : status::invalid_handle;
}

status cuStreamSynchronize(stream* queue) {
  return with_stream(queue, [&](machine& sim) {
    const status allowed = refuse_in_capture(sim, queue);
    if (allowed != status::success) return allowed;
    sim.synchronize(properties_of(sim, queue).made_in->owner);
    return status::success;
  });
}

status cuStreamQuery(stream* queue) {
  return with_stream(queue, [&](machine& sim) { return refuse_in_capture(sim, queue); });
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

status cuStreamAddCallback(stream* queue, void (*callback)(stream*, status, void*), void* data, unsigned flags) {
  if (!callback || flags) return status::invalid_value;
  {
    const locked_machine sim;
    if (sim->capture_of(queue)) return status::capture_unsupported;
  }
  return queue_host_work(queue, [=] { callback(queue, status::success, data); });
}

status cuLaunchHostFunc(stream* queue, host_function callback, void* data) {
  if (!callback) return status::invalid_value;
  return queue_host_work(queue, [=] { callback(data); });
}

}  // namespace simcuda::api
