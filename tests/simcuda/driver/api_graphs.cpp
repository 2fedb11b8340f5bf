// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

constexpr unsigned long long free_on_launch = 1;

/// Runs the body with the graph when the nodes that the new one depends on are its own.
template <class Body>
status add_node(graph_node** out, graph* to, graph_node* const* dependencies, std::size_t count, Body body) {
  if (!out || (count && !dependencies)) return status::invalid_value;
  const locked_machine sim;
  if (!sim->graphs.graphs.contains(to)) return status::invalid_value;
  for (std::size_t index = 0; index < count; ++index) {
    const auto is_this = [&](const auto& node) { return node.get() == dependencies[index]; };
    if (std::ranges::none_of(to->nodes, is_this)) return status::invalid_value;
  }
  return body(*sim, *out);
}

bool allocates(const graph& one) {
  return std::ranges::any_of(one.nodes, [](const auto& node) { return node->memory != nullptr; });
}

/// Puts memory behind the node's address.
status attach(machine& sim, const graph_node& node, bool free_first) {
  graph_allocation& memory = *node.memory;
  if (memory.attached && !free_first) return status::invalid_value;
  if (memory.attached) sim.blocks.free(*sim.blocks.starting_at(memory.address));
  memory_pool& pool = memory.owner.graph_pool();
  if (!pool.grow_used(memory.bytes)) return status::out_of_memory;
  memory.attached = true;
  sim.blocks.add_registered({.address = memory.address,
                             .bytes = memory.bytes,
                             .kind = block_kind::graph,
                             .owner = &memory.owner,
                             .pool = &pool,
                             .memory = node.memory});
  return status::success;
}

status run_memory_node(const graph_node& node, bool free_first) {
  const locked_machine sim;
  if (node.memory) return attach(*sim, node, free_first);
  const block* found = sim->blocks.starting_at(node.freed);
  if (!found || found->kind != block_kind::graph) return status::invalid_value;
  sim->blocks.free(*found);
  return status::success;
}

enum graph_memory_attribute { used_now, used_high, reserved_now, reserved_high };

}  // namespace

status cuGraphCreate(graph** out, unsigned flags) {
  if (!out || flags) return status::invalid_value;
  const locked_machine sim;
  *out = sim->graphs.graphs.create();
  return status::success;
}

status cuGraphDestroy(graph* target) {
  const locked_machine sim;
  if (!sim->graphs.graphs.contains(target)) return status::invalid_value;
  sim->graphs.destroy(target);
  return status::success;
}

status cuGraphAddMemAllocNode(graph_node** out, graph* to, graph_node* const* dependencies, std::size_t count,
                              allocation_node* wanted) {
  if (!wanted || !wanted->bytes) return status::invalid_value;
  return add_node(out, to, dependencies, count, [&](machine& sim, graph_node*& made) {
    const memory_location where = wanted->pool.location;
    device* owner = where.type == location_device ? sim.find_device(where.id) : nullptr;
    if (!owner) return status::invalid_value;
    const status result = sim.graphs.add_allocation(*to, *owner, wanted->bytes, made);
    if (result == status::success) wanted->address = made->memory->address;
    return result;
  });
}

status cuGraphAddMemFreeNode(graph_node** out, graph* to, graph_node* const* dependencies, std::size_t count,
                             device_ptr address) {
  return add_node(out, to, dependencies, count,
                  [&](machine& sim, graph_node*& made) { return sim.graphs.add_free(*to, address, made); });
}

status cuGraphAddEmptyNode(graph_node** out, graph* to, graph_node* const* dependencies, std::size_t count) {
  return add_node(out, to, dependencies, count, [&](machine& sim, graph_node*& made) {
    made = sim.graphs.add(*to, {.type = node_type::empty});
    return status::success;
  });
}

status cuGraphAddNode(graph_node** out, graph* to, graph_node* const* dependencies, std::size_t count,
                      generic_node* wanted) {
  if (!wanted) return status::invalid_value;
  switch (wanted->type) {
    case node_type::memory_allocation: return cuGraphAddMemAllocNode(out, to, dependencies, count, &wanted->allocation);
    case node_type::memory_free: return cuGraphAddMemFreeNode(out, to, dependencies, count, wanted->freed);
    case node_type::empty: return cuGraphAddEmptyNode(out, to, dependencies, count);
    default: return status::not_supported;
  }
}

status cuGraphAddNode_v2(graph_node** out, graph* to, graph_node* const* dependencies, const void*, std::size_t count,
                         generic_node* wanted) {
  return cuGraphAddNode(out, to, dependencies, count, wanted);
}

status cuGraphInstantiateWithFlags(executable_graph** out, graph* from, unsigned long long flags) {
  constexpr unsigned long long known_flags = 15;
  if (!out || flags & ~known_flags) return status::invalid_value;
  const locked_machine sim;
  if (!sim->graphs.graphs.contains(from)) return status::invalid_value;
  if (allocates(*from) && from->instantiated) return status::not_supported;
  executable_graph* made = sim->graphs.executables.create(from, (flags & free_on_launch) != 0, from->nodes);
  from->instantiated = made;
  *out = made;
  return status::success;
}

status cuGraphInstantiateWithParams(executable_graph** out, graph* from, instantiation* wanted) {
  if (!wanted) return status::invalid_value;
  const status result = cuGraphInstantiateWithFlags(out, from, wanted->flags);
  constexpr int succeeded = 0, failed = 1;
  wanted->result = result == status::success ? succeeded : failed;
  wanted->failed_node = nullptr;
  return result;
}

status cuGraphInstantiate(executable_graph** out, graph* from, graph_node** failed, char* log, std::size_t log_bytes) {
  if (failed) *failed = nullptr;
  if (log && log_bytes) *log = '\0';
  return cuGraphInstantiateWithFlags(out, from, 0);
}

status cuGraphUpload(executable_graph* target, stream* queue) {
  const locked_machine sim;
  if (!sim->graphs.executables.contains(target)) return status::invalid_value;
  return sim->usable(queue) ? status::success : status::invalid_handle;
}

status cuGraphLaunch(executable_graph* target, stream* queue) {
  std::vector<std::shared_ptr<graph_node>> nodes;
  bool free_first = false;
  {
    const locked_machine sim;
    if (!sim->graphs.executables.contains(target)) return status::invalid_value;
    if (!sim->usable(queue)) return status::invalid_handle;
    if (sim->capture_of(queue)) return status::not_supported;
    nodes = target->nodes;
    free_first = target->frees_on_launch;
  }
  status result = status::success;
  for (const auto& node : nodes) {
    const bool is_memory = node->memory || node->type == node_type::memory_free;
    if (is_memory) result = run_memory_node(*node, free_first);
    if (result != status::success) break;
    if (node->work) node->work();
  }
  const locked_machine sim;  // the nodes may be the last that know an allocation
  nodes.clear();
  return result;
}

status cuGraphExecDestroy(executable_graph* target) {
  const locked_machine sim;
  if (!sim->graphs.executables.contains(target)) return status::invalid_value;
  sim->graphs.destroy(target);
  return status::success;
}

status cuDeviceGraphMemTrim(device_ordinal ordinal) {
  const locked_machine sim;
  device* owner = sim->find_device(ordinal);
  if (!owner) return status::invalid_device;
  owner->graph_pool().trim(0);
  return status::success;
}

status cuDeviceGetGraphMemAttribute(device_ordinal ordinal, int attribute, void* value) {
  const locked_machine sim;
  device* owner = sim->find_device(ordinal);
  if (!owner) return status::invalid_device;
  if (!value || attribute < used_now || attribute > reserved_high) return status::invalid_value;
  const memory_pool& pool = owner->graph_pool();
  const std::uint64_t answers[] = {pool.used, pool.used_high, pool.reserved, pool.reserved_high};
  std::memcpy(value, &answers[attribute], sizeof *answers);
  return status::success;
}

status cuDeviceSetGraphMemAttribute(device_ordinal ordinal, int attribute, void* value) {
  const locked_machine sim;
  device* owner = sim->find_device(ordinal);
  if (!owner) return status::invalid_device;
  std::uint64_t wanted = 1;
  if (value) std::memcpy(&wanted, value, sizeof wanted);
  if (wanted || (attribute != used_high && attribute != reserved_high)) return status::invalid_value;
  memory_pool& pool = owner->graph_pool();
  if (attribute == used_high)
    pool.used_high = pool.used;
  else
    pool.reserved_high = pool.reserved;
  return status::success;
}

}  // namespace simcuda::api
