// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

constexpr unsigned known_flags = 0x1ff;  // scheduling, mapping, local memory, core dump and memory-operation flags

template <class Body>
status with_primary(device_ordinal ordinal, Body body) {
  const locked_machine sim;
  if (!sim->find_device(ordinal)) return status::invalid_device;
  return body(*sim, *sim->contexts.primary(ordinal));
}

status create_context(context** out, unsigned flags, device_ordinal ordinal, unsigned api_version) {
  if (!out || flags & ~known_flags) return status::invalid_value;
  const locked_machine sim;
  device* owner = sim->find_device(ordinal);
  if (!owner) return status::invalid_device;
  context* made = sim->contexts.create(*owner);
  const status result = sim->contexts.bring_up(*made);
  if (result != status::success) return result;
  made->flags = flags;
  made->api_version = api_version;
  made->uses = 1;
  push_context(*made);
  *out = made;
  return status::success;
}

void leave_if_current(const context* target) {
  const auto& stack = context_stack();
  if (!stack.empty() && stack.back() == target) pop_context();
}

/// nullptr stands for the current context.
status check_or_current(machine& sim, context*& target) {
  if (target) return sim.contexts.check(target);
  const status result = current_context_status();
  if (result == status::success) target = &current_context();
  return result;
}

}  // namespace

status cuDevicePrimaryCtxRetain(context** out, device_ordinal ordinal) {
  if (!out) return status::invalid_value;
  return with_primary(ordinal, [&](machine& sim, context& primary) {
    const status result = sim.contexts.retain(primary);
    if (result == status::success) *out = &primary;
    return result;
  });
}

status cuDevicePrimaryCtxRelease(device_ordinal ordinal) {
  return with_primary(ordinal, [](machine& sim, context& primary) { return sim.contexts.release(primary); });
}

status cuDevicePrimaryCtxReset(device_ordinal ordinal) {
  return with_primary(ordinal, [](machine& sim, context& primary) {
    if (primary.alive) sim.contexts.tear_down(primary);
    return status::success;
  });
}

status cuDevicePrimaryCtxSetFlags(device_ordinal ordinal, unsigned flags) {
  if (flags & ~known_flags) return status::invalid_value;
  return with_primary(ordinal, [&](machine&, context& primary) {
    primary.flags = flags;
    return status::success;
  });
}

status cuDevicePrimaryCtxGetState(device_ordinal ordinal, unsigned* flags, int* active) {
  if (!flags || !active) return status::invalid_value;
  return with_primary(ordinal, [&](machine&, context& primary) {
    *flags = primary.flags;
    *active = primary.alive;
    return status::success;
  });
}

status cuCtxCreate(context** out, unsigned flags, device_ordinal ordinal) {
  return create_context(out, flags, ordinal, 3020);
}

status cuCtxCreate_v3(context** out, void*, int, unsigned flags, device_ordinal ordinal) {
  return create_context(out, flags, ordinal, 11040);
}

status cuCtxCreate_v4(context** out, context_parameters*, unsigned flags, device_ordinal ordinal) {
  return create_context(out, flags, ordinal, 12050);
}

status cuCtxDestroy(context* target) {
  const locked_machine sim;
  const status known = sim->contexts.check(target);
  if (known != status::success) return known;
  if (target->primary || target->is_green) return status::invalid_context;
  sim->contexts.tear_down(*target);
  leave_if_current(target);
  return status::success;
}

status cuCtxAttach(context** out, unsigned flags) {
  if (!out || flags) return status::invalid_value;
  const locked_machine sim;
  *out = &current_context();
  ++(*out)->uses;
  return status::success;
}

status cuCtxDetach(context* target) {
  const locked_machine sim;
  const status known = sim->contexts.check(target);
  if (known != status::success) return known;
  if (--target->uses > 0) return status::success;
  sim->contexts.tear_down(*target);
  leave_if_current(target);
  return status::success;
}

status cuCtxPushCurrent(context* target) {
  const locked_machine sim;
  const status known = sim->contexts.check(target);
  return known == status::success ? push_context(*target) : known;
}

status cuCtxPopCurrent(context** out) {
  const auto& stack = context_stack();
  if (stack.empty()) return status::invalid_context;
  if (out) *out = stack.back();
  pop_context();
  return status::success;
}

status cuCtxSetCurrent(context* target) {
  const locked_machine sim;
  const status known = target ? sim->contexts.check(target) : status::success;
  if (known != status::success) return known;
  context* const before = context_stack().empty() ? nullptr : context_stack().back();
  if (before) pop_context();
  const status result = target ? push_context(*target) : status::success;
  if (result != status::success && before) push_context(*before);
  return result;
}

status cuCtxGetCurrent(context** out) {
  if (!out) return status::invalid_value;
  const auto& stack = context_stack();
  *out = stack.empty() ? nullptr : stack.back();
  return status::success;
}

status cuCtxGetDevice(device_ordinal* out) {
  if (!out) return status::invalid_value;
  *out = current_context().owner.ordinal();
  return status::success;
}

status cuCtxGetDevice_v2(device_ordinal* out, context* target) {
  if (!out) return status::invalid_value;
  const locked_machine sim;
  const status known = check_or_current(*sim, target);
  if (known == status::success) *out = target->owner.ordinal();
  return known;
}

status cuCtxGetId(context* target, unsigned long long* id) {
  if (!id) return status::invalid_value;
  const locked_machine sim;
  const status known = check_or_current(*sim, target);
  if (known == status::success) *id = target->id;
  return known;
}

status cuCtxGetApiVersion(context* target, unsigned* version) {
  if (!version) return status::invalid_value;
  const locked_machine sim;
  const status known = check_or_current(*sim, target);
  if (known == status::success) *version = target->api_version;
  return known;
}

status cuCtxGetFlags(unsigned* flags) {
  if (!flags) return status::invalid_value;
  *flags = current_context().flags;
  return status::success;
}

status cuCtxSetFlags(unsigned flags) {
  if (flags & ~known_flags) return status::invalid_value;
  current_context().flags = flags;
  return status::success;
}

status cuCtxSynchronize() {
  const locked_machine sim;
  const status safe = sim->graphs.unsafe_call();
  if (safe == status::success) sim->synchronize(current_context().owner);
  return safe;
}

status cuCtxSynchronize_v2(context* target) {
  const locked_machine sim;
  const status known = check_or_current(*sim, target);
  if (known == status::success) sim->synchronize(target->owner);
  return known;
}

status cuCtxGetLimit(std::size_t* value, int limit) {
  const auto& limits = current_context().limits;
  if (!value || limit < 0 || std::cmp_greater_equal(limit, limits.size())) return status::invalid_value;
  *value = limits[static_cast<std::size_t>(limit)];
  return status::success;
}

status cuCtxSetLimit(int limit, std::size_t value) {
  if (limit < 0) return status::invalid_value;
  const locked_machine sim;
  return sim->contexts.set_limit(current_context(), static_cast<std::size_t>(limit), value);
}

status cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return status::success;
}

status cuCtxGetCacheConfig(int* preference) {
  if (!preference) return status::invalid_value;
  *preference = current_context().cache_preference;
  return status::success;
}

status cuCtxSetCacheConfig(int preference) {
  current_context().cache_preference = preference;
  return status::success;
}

}  // namespace simcuda::api
