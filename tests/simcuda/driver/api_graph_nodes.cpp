// SPDX-License-Identifier: Apache-2.0
// What a graph's memory nodes can be asked.
#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {

status cuGraphMemAllocNodeGetParams(graph_node* node, allocation_node* out) {
  constexpr int pinned = 1;
  const locked_machine sim;
  if (!out || !sim->graphs.contains(node) || !node->memory) return status::invalid_value;
  *out = {};
  out->pool.allocation_type = pinned;
  out->pool.location = {location_device, node->memory->owner.ordinal()};
  out->bytes = node->memory->bytes;
  out->address = node->memory->address;
  return status::success;
}

status cuGraphMemFreeNodeGetParams(graph_node* node, device_ptr* out) {
  const locked_machine sim;
  if (!out || !sim->graphs.contains(node) || node->type != node_type::memory_free) return status::invalid_value;
  *out = node->freed;
  return status::success;
}

}  // namespace simcuda::api
