// SPDX-License-Identifier: Apache-2.0
#include "driver/context.h"

#include <unistd.h>

#include <algorithm>

#include "driver/device.h"
#include "driver/machine.h"

namespace simcuda {
namespace {

// The limits that stand for memory: stacks of all resident threads, printf's queue, the heap of kernels.
constexpr std::size_t stack_limit = 0, last_limit_with_memory = 2;

bool is_forbidden(const device& owner) {
  switch (owner.description().mode) {
    case compute_mode::shared: return false;
    case compute_mode::exclusive_thread: return owner.has_context() || owner.is_used_by_others();
    case compute_mode::prohibited: return true;
    case compute_mode::exclusive_process: break;
  }
  return owner.is_used_by_others() || (owner.description().exclusive_within_process && owner.has_context());
}

/// Ends with its thread, and lets go of what only one thread may have.
struct thread_contexts {
  std::vector<context*> stack;
  ~thread_contexts() {
    for (context* one : stack) one->thread = 0;
  }
};

thread_contexts& contexts_of_this_thread() {
  thread_local thread_contexts contexts;
  return contexts;
}

}  // namespace

status context_table::bring_up(context& target) {
  device& owner = target.owner;
  const device_description& description = owner.description();
  const auto meanwhile = owner.guard();
  if (is_forbidden(owner)) return status::device_unavailable;
  void* addresses = nullptr;
  if (description.address_space_needed) {
    addresses = reserve_addresses(description.address_space_needed);
    if (!addresses) return status::out_of_memory;
  }
  if (!owner.charge(description.context_overhead)) {
    if (addresses) unmap_host_memory(addresses, description.address_space_needed);
    return status::out_of_memory;
  }
  owner.add_context();
  target.address_space = addresses;
  target.charged = description.context_overhead;
  target.limits = default_limits;
  target.reserved_limits = default_limits;
  target.alive = true;
  return status::success;
}

context* context_table::create(device& owner) {
  all_.push_back(std::make_unique<context>(owner, false, all_.size() + 1));
  return all_.back().get();
}

status context_table::retain(context& primary) {
  const status result = primary.alive ? status::success : bring_up(primary);
  if (result == status::success) ++primary.uses;
  return result;
}

status context_table::release(context& primary) {
  if (!primary.uses) return status::invalid_context;
  if (--primary.uses == 0) tear_down(primary);
  return status::success;
}

status context_table::set_limit(context& target, std::size_t limit, std::size_t value) {
  if (limit >= target.limits.size()) return status::invalid_value;
  std::size_t& reserved = target.reserved_limits[limit];
  if (limit <= last_limit_with_memory && value > reserved) {
    constexpr std::size_t threads_per_multiprocessor = 2048;
    const auto multiprocessors = static_cast<std::size_t>(target.owner.description().multiprocessors);
    const std::size_t times = limit == stack_limit ? threads_per_multiprocessor * multiprocessors : 1;
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(value - reserved, times, &bytes) || !target.owner.charge(bytes)) {
      return status::out_of_memory;
    }
    target.charged += bytes;
    reserved = value;
  }
  target.limits[limit] = value;
  return status::success;
}

context* context_table::create_green(device& owner) {
  context* made = create(owner);
  made->is_green = true;
  made->alive = true;
  return made;
}

void context_table::tear_down(context& target) {
  auto& sim = machine::instance();
  sim.code.unload_context(&target);
  sim.blocks.free_context(&target);
  const auto belongs = [&](const auto& object) { return object.made_in == &target; };
  sim.streams.destroy_if(belongs);
  sim.events.destroy_if(belongs);
  sim.arrays.destroy_if(belongs);
  sim.mipmapped_arrays.destroy_if(belongs);
  sim.external_memories.destroy_if(belongs);
  sim.graphics_resources.destroy_if(belongs);
  target.peers.clear();
  if (target.address_space) {
    unmap_host_memory(target.address_space, target.owner.description().address_space_needed);
    target.address_space = nullptr;
  }
  target.owner.refund(target.charged);
  if (!target.is_green) target.owner.remove_context();
  target.charged = 0;
  target.alive = false;
  target.uses = 0;
}

status context_table::check(const context* handle) const {
  for (const auto& known : all_) {
    if (known.get() == handle) return known->alive ? status::success : status::context_is_destroyed;
  }
  return status::invalid_context;
}

const std::vector<context*>& context_stack() { return contexts_of_this_thread().stack; }

status push_context(context& target) {
  if (target.owner.description().mode == compute_mode::exclusive_thread) {
    if (target.thread && target.thread != gettid()) return status::context_already_in_use;
    target.thread = gettid();
  }
  contexts_of_this_thread().stack.push_back(&target);
  return status::success;
}

void pop_context() {
  auto& stack = contexts_of_this_thread().stack;
  context* left = stack.back();
  stack.pop_back();
  if (std::ranges::find(stack, left) == stack.end()) left->thread = 0;
}

context& current_context() { return *context_stack().back(); }

status current_context_status() {
  const auto& stack = context_stack();
  if (stack.empty()) return status::invalid_context;
  return stack.back()->alive ? status::success : status::context_is_destroyed;
}

}  // namespace simcuda
