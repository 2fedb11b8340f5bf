// SPDX-License-Identifier: Apache-2.0
#include "driver/graphs.h"

#include <algorithm>

#include "driver/device.h"
#include "driver/machine.h"

namespace simcuda {
namespace {

constexpr unsigned non_blocking = 1;

}  // namespace

graph_allocation::~graph_allocation() { owner.addresses().give_back(address, bytes); }

graph_node* graph_store::add(graph& to, graph_node made) {
  return to.nodes.emplace_back(std::make_shared<graph_node>(std::move(made))).get();
}

graph* graph_store::owner_of(const graph_node* node) {
  graph* found = nullptr;
  graphs.for_each([&](graph& one) {
    if (std::ranges::any_of(one.nodes, [node](const auto& known) { return known.get() == node; })) found = &one;
  });
  return found;
}

status graph_store::add_allocation(graph& to, device& owner, std::size_t bytes, graph_node*& made) {
  constexpr std::size_t granule = address_space::granule;
  if (bytes > owner.capacity() * 2) return status::out_of_memory;
  const std::size_t rounded = (bytes + granule - 1) / granule * granule;
  const device_ptr address = owner.addresses().take(rounded);
  if (!address) return status::out_of_memory;
  auto memory = std::make_shared<graph_allocation>(owner, rounded, address);
  allocations_[address] = memory;
  made = add(to, {.type = node_type::memory_allocation, .memory = std::move(memory)});
  return status::success;
}

status graph_store::add_free(graph& to, device_ptr address, graph_node*& made) {
  if (!allocation_at(address)) return status::invalid_value;
  made = add(to, {.type = node_type::memory_free, .freed = address});
  return status::success;
}

void graph_store::destroy(graph* gone) {
  executables.for_each([gone](executable_graph& one) {
    if (one.from == gone) one.from = nullptr;
  });
  graphs.destroy(gone);
}

void graph_store::destroy(executable_graph* gone) {
  if (gone->from && gone->from->instantiated == gone) gone->from->instantiated = nullptr;
  executables.destroy(gone);
}

std::shared_ptr<graph_allocation> graph_store::allocation_at(device_ptr address) const {
  const auto found = allocations_.find(address);
  return found == allocations_.end() ? nullptr : found->second.lock();
}

stream_capture* graph_store::begin(stream* origin, int mode, graph* into) {
  captures_.push_back(std::make_unique<stream_capture>(
      stream_capture{into ? into : graphs.create(), origin, mode, std::this_thread::get_id(), next_capture_id_++}));
  captures_.back()->into_own_graph = !into;
  return captures_.back().get();
}

void graph_store::end(stream_capture& over) {
  machine::instance().streams.for_each([&](stream& one) {
    if (one.capture == &over) one.capture = nullptr;
  });
  std::erase_if(captures_, [&](const auto& one) { return one.get() == &over; });
}

stream_capture* graph_store::capture(std::uint64_t id) const {
  const auto found = std::ranges::find_if(captures_, [id](const auto& one) { return one->id == id; });
  return found == captures_.end() ? nullptr : found->get();
}

status graph_store::unsafe_call() {
  status result = status::success;
  const int mode = thread_capture_mode();
  for (const auto& one : captures_) {
    const bool own = one->begun_by == std::this_thread::get_id();
    const bool forbids = own ? one->mode != capture_mode::relaxed : one->mode == capture_mode::global;
    const bool heeded = mode == capture_mode::global || (mode == capture_mode::thread_local_only && own);
    if (!forbids || !heeded) continue;
    one->invalidated = true;
    result = status::capture_unsupported;
  }
  return result;
}

status graph_store::default_stream_work() {
  status result = status::success;
  for (const auto& one : captures_) {
    if (one->origin->flags & non_blocking) continue;
    one->invalidated = true;
    result = status::capture_implicit;
  }
  return result;
}

int& thread_capture_mode() {
  thread_local int mode = capture_mode::global;
  return mode;
}

}  // namespace simcuda
