// SPDX-License-Identifier: Apache-2.0
// Events, which also carry a capture from one stream to another.
#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

constexpr unsigned disable_timing = 2;

template <class Body>
status with_event(event* mark, Body body) {
  const locked_machine sim;
  return sim->events.contains(mark) ? body(*sim) : status::invalid_handle;
}

/// The capture in which the event was recorded, while that goes on.
stream_capture* capture_of(machine& sim, const event& mark) {
  return mark.capture_id ? sim.graphs.capture(mark.capture_id) : nullptr;
}

/// An event of a capture never happens by itself.
status refuse_if_captured(machine& sim, const event& mark) {
  stream_capture* capture = capture_of(sim, mark);
  if (!capture) return status::success;
  capture->invalidated = true;
  return status::captured_event;
}

/// The stream joins the event's capture, or ends the branch of it that the event closed.
status wait_in_capture(machine& sim, stream* queue, const event& mark) {
  stream_capture* theirs = capture_of(sim, mark);
  stream_capture* own = sim.capture_of(queue);
  if (theirs && !own) {
    if (!sim.streams.contains(queue)) return sim.graphs.invalidate(*theirs, status::capture_implicit);
    if (theirs->invalidated) return status::capture_invalidated;
    queue->capture = theirs;
    theirs->unjoined.insert(queue);
  } else if (theirs && theirs == own) {
    theirs->unjoined.erase(mark.captured_on);
  } else if (theirs) {
    sim.graphs.invalidate(*theirs, status::capture_merge);
    return sim.graphs.invalidate(*own, status::capture_merge);
  } else if (own) {
    return sim.graphs.invalidate(*own, status::capture_isolation);
  }
  return status::success;
}

}  // namespace

status cuStreamWaitEvent(stream* queue, event* mark, unsigned) {
  return with_event(mark, [&](machine& sim) {
    return sim.usable(queue) ? wait_in_capture(sim, queue, *mark) : status::invalid_handle;
  });
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
    const stream_capture* capture = sim.capture_of(queue);
    if (capture && capture->invalidated) return status::capture_invalidated;
    mark->capture_id = capture ? capture->id : 0;
    mark->captured_on = queue;
    if (capture) return status::success;
    mark->recorded = std::chrono::steady_clock::now();
    return status::success;
  });
}

status cuEventRecordWithFlags(event* mark, stream* queue, unsigned) { return cuEventRecord(mark, queue); }

status cuEventQuery(event* mark) {
  return with_event(mark, [&](machine& sim) { return refuse_if_captured(sim, *mark); });
}

status cuEventSynchronize(event* mark) {
  return with_event(mark, [&](machine& sim) {
    const status allowed = refuse_if_captured(sim, *mark);
    if (allowed != status::success) return allowed;
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
