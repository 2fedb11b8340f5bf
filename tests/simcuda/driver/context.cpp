// SPDX-License-Identifier: Apache-2.0
#include "driver/context.h"

#include <algorithm>

#include "driver/device.h"
#include "driver/machine.h"

namespace simcuda {
namespace {

// The limits that stand for memory: stacks of all resident threads, printf's queue, the heap of kernels.
constexpr std::size_t stack_limit = 0, last_limit_with_memory = 2;

}  // namespace

status context_table::bring_up(context& target) {
  const device_description& description = target.owner.description();
  const bool taken = description.mode == compute_mode::exclusive_process && !description.other_processes.empty();
  if (taken || description.mode == compute_mode::prohibited) return status::device_unavailable;
  if (!target.owner.charge(description.context_overhead)) return status::out_of_memory;
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
  target.owner.refund(target.charged);
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

bool context_table::any_alive(const device& on) const {
  return std::ranges::any_of(all_, [&](const auto& one) { return &one->owner == &on && one->alive; });
}

std::vector<context*>& context_stack() {
  thread_local std::vector<context*> stack;
  return stack;
}

context& current_context() { return *context_stack().back(); }

status current_context_status() {
  const auto& stack = context_stack();
  if (stack.empty()) return status::invalid_context;
  return stack.back()->alive ? status::success : status::context_is_destroyed;
}

}  // namespace simcuda
