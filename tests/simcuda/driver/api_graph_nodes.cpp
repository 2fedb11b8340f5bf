// SPDX-License-Identifier: Apache-2.0
// Nodes of graphs: what they can be asked, and what becomes of all of them.
#include <algorithm>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

bool has_memory_nodes(const graph& one) {
  return std::ranges::any_of(one.nodes,
                             [](const auto& node) { return node->memory || node->type == node_type::memory_free; });
}

}  // namespace

status cuGraphGetNodes(graph* of, graph_node** nodes, std::size_t* count) {
  const locked_machine sim;
  if (!count || !sim->graphs.graphs.contains(of)) return status::invalid_value;
  if (nodes) {
    for (std::size_t index = 0; index < *count; ++index) {
      nodes[index] = index < of->nodes.size() ? of->nodes[index].get() : nullptr;
    }
  }
  *count = nodes ? std::min(*count, of->nodes.size()) : of->nodes.size();
  return status::success;
}

status cuGraphNodeGetType(graph_node* node, int* type) {
  const locked_machine sim;
  if (!type || !sim->graphs.contains(node)) return status::invalid_value;
  *type = node->type;
  return status::success;
}

// Graphs with memory nodes can neither be cloned nor lose a node.
status cuGraphClone(graph** out, graph* from) {
  if (!out) return status::invalid_value;
  const locked_machine sim;
  if (!sim->graphs.graphs.contains(from)) return status::invalid_value;
  if (has_memory_nodes(*from)) return status::not_supported;
  *out = sim->graphs.graphs.create();
  for (const auto& node : from->nodes) sim->graphs.add(**out, *node);
  return status::success;
}

status cuGraphDestroyNode(graph_node* gone) {
  const locked_machine sim;
  graph* owner = sim->graphs.owner_of(gone);
  if (!owner) return status::invalid_value;
  if (has_memory_nodes(*owner)) return status::not_supported;
  std::erase_if(owner->nodes, [gone](const auto& node) { return node.get() == gone; });
  return status::success;
}

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
