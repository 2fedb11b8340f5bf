// SPDX-License-Identifier: Apache-2.0
#include "driver/context.h"

#include <algorithm>

#include "driver/device.h"
#include "driver/machine.h"

namespace simcuda {

status context_table::bring_up(context& target) {
  const device_description& description = target.owner.description();
  const bool taken = description.mode == compute_mode::exclusive_process && !description.other_processes.empty();
  if (taken || description.mode == compute_mode::prohibited) return status::device_unavailable;
  if (!target.owner.charge(description.context_overhead)) return status::out_of_memory;
  target.alive = true;
  return status::success;
}

context* context_table::create(device& owner) {
  all_.push_back(std::make_unique<context>(owner, false, all_.size() + 1));
  return all_.back().get();
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
  target.owner.refund(target.owner.description().context_overhead);
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
