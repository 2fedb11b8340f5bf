// SPDX-License-Identifier: Apache-2.0
#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

enum capture_state { none = 0, active = 1, broken = 2 };

/// Eight bytes of each edge; all edges here are ordinary ones.
constexpr unsigned char ordinary_edge[8] = {};

struct capture_report {
  int state = none;
  unsigned long long id = 0;
  graph* into = nullptr;
  graph_node** last = nullptr;
  std::size_t count = 0;
};

status report(stream* queue, capture_report& out) {
  const locked_machine sim;
  if (!sim->usable(queue)) return status::invalid_handle;
  stream_capture* capture = sim->capture_of(queue);
  if (!capture) return status::success;
  const auto last = capture->last.find(queue);
  out.state = capture->invalidated ? broken : active;
  out.id = capture->id;
  out.into = capture->into;
  if (last == capture->last.end()) return status::success;
  out.last = const_cast<graph_node**>(&last->second);
  out.count = 1;
  return status::success;
}

/// nullptr: into a graph of its own.
status begin_capture(machine& sim, stream* queue, int mode, graph* into) {
  if (mode < capture_mode::global || mode > capture_mode::relaxed) return status::invalid_value;
  if (!sim.usable(queue)) return status::invalid_handle;
  if (!sim.streams.contains(queue)) return status::capture_unsupported;  // a default stream
  if (queue->capture) return status::illegal_state;
  queue->capture = sim.graphs.begin(queue, mode, into);
  return status::success;
}

}  // namespace

status cuThreadExchangeStreamCaptureMode(int* mode) {
  constexpr int capture_modes = 3;
  if (!mode || *mode < 0 || *mode >= capture_modes) return status::invalid_value;
  std::swap(thread_capture_mode(), *mode);
  return status::success;
}

status cuStreamBeginCapture_v2(stream* queue, int mode) {
  const locked_machine sim;
  return begin_capture(*sim, queue, mode, nullptr);
}

status cuStreamBeginCaptureToGraph(stream* queue, graph* into, graph_node* const* dependencies, const void*,
                                   std::size_t count, int mode) {
  const locked_machine sim;
  if (!sim->graphs.graphs.contains(into) || (count && !dependencies)) return status::invalid_value;
  for (std::size_t index = 0; index < count; ++index) {
    if (!sim->graphs.contains(dependencies[index])) return status::invalid_value;
  }
  const status result = begin_capture(*sim, queue, mode, into);
  if (result == status::success && count) queue->capture->last[queue] = dependencies[count - 1];
  return result;
}

status cuStreamBeginCapture(stream* queue) { return cuStreamBeginCapture_v2(queue, capture_mode::global); }

status cuStreamEndCapture(stream* queue, graph** out) {
  if (!out) return status::invalid_value;
  const locked_machine sim;
  if (!sim->usable(queue)) return status::invalid_handle;
  stream_capture* capture = sim->capture_of(queue);
  if (!capture) return status::illegal_state;
  if (capture->origin != queue) return status::capture_unmatched;
  if (capture->mode != capture_mode::relaxed && capture->begun_by != std::this_thread::get_id()) {
    return status::capture_wrong_thread;
  }
  status result = status::success;
  if (capture->invalidated)
    result = status::capture_invalidated;
  else if (!capture->unjoined.empty())
    result = status::capture_unjoined;
  *out = result == status::success ? capture->into : nullptr;
  if (result != status::success && capture->into_own_graph) sim->graphs.destroy(capture->into);
  sim->graphs.end(*capture);
  return result;
}

status cuStreamIsCapturing(stream* queue, int* capturing) {
  if (!capturing) return status::invalid_value;
  capture_report found;
  const status result = report(queue, found);
  if (result == status::success) *capturing = found.state;
  return result;
}

status cuStreamGetCaptureInfo(stream* queue, int* state, unsigned long long* id) {
  return cuStreamGetCaptureInfo_v2(queue, state, id, nullptr, nullptr, nullptr);
}

status cuStreamGetCaptureInfo_v2(stream* queue, int* state, unsigned long long* id, graph** into, graph_node*** last,
                                 std::size_t* count) {
  return cuStreamGetCaptureInfo_v3(queue, state, id, into, last, nullptr, count);
}

status cuStreamGetCaptureInfo_v3(stream* queue, int* state, unsigned long long* id, graph** into, graph_node*** last,
                                 const void** edges, std::size_t* count) {
  if (!state) return status::invalid_value;
  capture_report found;
  const status result = report(queue, found);
  if (result != status::success) return result;
  *state = found.state;
  if (found.state != active) return status::success;
  if (id) *id = found.id;
  if (into) *into = found.into;
  if (last) *last = found.last;
  if (edges) *edges = ordinary_edge;
  if (count) *count = found.count;
  return status::success;
}

}  // namespace simcuda::api
