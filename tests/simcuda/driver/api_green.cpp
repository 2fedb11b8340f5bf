// SPDX-License-Identifier: Apache-2.0
// Green contexts: a share of the multiprocessors, over a primary context that lives as long.
#include <algorithm>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

constexpr int multiprocessors = 1;  // the type of resource
constexpr unsigned partition = 8;

device_resource whole_device(const device& owner) {
  device_resource result{};
  result.type = multiprocessors;
  result.multiprocessors = static_cast<unsigned>(owner.description().multiprocessors);
  result.least_partition = result.alignment = partition;
  return result;
}

template <class Body>
status with_green(green_context* handle, Body body) {
  const locked_machine sim;
  return sim->green_contexts.contains(handle) ? body(*sim) : status::invalid_context;
}

green_context* green_of(machine& sim, const context* made_in) {
  green_context* found = nullptr;
  sim.green_contexts.for_each([&](green_context& one) {
    if (one.converted == made_in) found = &one;
  });
  return found;
}

}  // namespace

status cuDeviceGetDevResource(device_ordinal ordinal, device_resource* out, int type) {
  if (!out || type != multiprocessors) return status::invalid_value;
  const locked_machine sim;
  const device* owner = sim->find_device(ordinal);
  if (!owner) return status::invalid_device;
  *out = whole_device(*owner);
  return status::success;
}

status cuCtxGetDevResource(context* target, device_resource* out, int type) {
  if (!out || type != multiprocessors) return status::invalid_value;
  const locked_machine sim;
  const status known = sim->contexts.check(target);
  if (known != status::success) return known;
  const green_context* green = green_of(*sim, target);
  *out = green ? green->share : whole_device(target->owner);
  return status::success;
}

status cuGreenCtxGetDevResource(green_context* target, device_resource* out, int type) {
  if (!out || type != multiprocessors) return status::invalid_value;
  return with_green(target, [&](machine&) {
    *out = target->share;
    return status::success;
  });
}

status cuDevSmResourceSplitByCount(device_resource* out, unsigned* groups, const device_resource* whole,
                                   device_resource* rest, unsigned, unsigned least) {
  if (!groups || !whole || whole->type != multiprocessors) return status::invalid_value;
  const unsigned each = std::max((least + partition - 1) / partition * partition, partition);
  const unsigned possible = whole->multiprocessors / each;
  if (!possible) return status::invalid_configuration_of_resource;
  *groups = out ? std::min(*groups, possible) : possible;
  for (unsigned index = 0; out && index < *groups; ++index) {
    out[index] = *whole;
    out[index].multiprocessors = each;
  }
  if (rest) {
    *rest = *whole;
    rest->multiprocessors -= each * *groups;
  }
  return status::success;
}

status cuDevResourceGenerateDesc(resource_description** out, device_resource* list, unsigned count) {
  if (!out || !list || !count) return status::invalid_value;
  device_resource sum = list[0];
  for (unsigned index = 1; index < count; ++index) sum.multiprocessors += list[index].multiprocessors;
  if (sum.type != multiprocessors) return status::invalid_value;
  const locked_machine sim;
  *out = sim->resource_descriptions.create(sum);
  return status::success;
}

status cuGreenCtxCreate(green_context** out, resource_description* wanted, device_ordinal ordinal, unsigned flags) {
  constexpr unsigned default_stream = 1;
  if (!out || flags != default_stream) return status::invalid_value;
  const locked_machine sim;
  const device* owner = sim->find_device(ordinal);
  if (!owner) return status::invalid_device;
  if (!sim->resource_descriptions.contains(wanted)) return status::invalid_value;
  context& primary = *sim->contexts.primary(ordinal);
  const status result = sim->contexts.retain(primary);
  if (result != status::success) return result;
  *out = sim->green_contexts.create(&primary, sim->contexts.create_green(primary.owner), wanted->share);
  return status::success;
}

status cuGreenCtxDestroy(green_context* target) {
  return with_green(target, [&](machine& sim) {
    sim.contexts.tear_down(*target->converted);
    sim.contexts.release(*target->primary);
    sim.green_contexts.destroy(target);
    return status::success;
  });
}

status cuCtxFromGreenCtx(context** out, green_context* from) {
  if (!out) return status::invalid_value;
  return with_green(from, [&](machine&) {
    *out = from->converted;
    return status::success;
  });
}

status cuGreenCtxGetId(green_context* target, unsigned long long* id) {
  if (!id) return status::invalid_value;
  return with_green(target, [&](machine&) {
    *id = target->converted->id;
    return status::success;
  });
}

status cuGreenCtxRecordEvent(green_context* target, event* mark) {
  return with_green(target, [&](machine& sim) {
    if (!sim.events.contains(mark)) return status::invalid_handle;
    mark->recorded = std::chrono::steady_clock::now();
    return status::success;
  });
}

status cuGreenCtxWaitEvent(green_context* target, event* mark) {
  return with_green(target,
                    [&](machine& sim) { return sim.events.contains(mark) ? status::success : status::invalid_handle; });
}

status cuGreenCtxStreamCreate(stream** out, green_context* in, unsigned flags, int priority) {
  constexpr unsigned non_blocking = 1;
  if (!out || flags != non_blocking) return status::invalid_value;
  return with_green(in, [&](machine& sim) {
    *out = sim.streams.create(in->converted, flags, priority, sim.next_stream_id++);
    return status::success;
  });
}

status cuStreamGetGreenCtx(stream* queue, green_context** out) {
  if (!out) return status::invalid_value;
  const locked_machine sim;
  if (!sim->usable(queue)) return status::invalid_handle;
  *out = green_of(*sim, sim->streams.contains(queue) ? queue->made_in : &current_context());
  return status::success;
}

status cuStreamGetCtx_v2(stream* queue, context** out, green_context** green) {
  const status result = cuStreamGetGreenCtx(queue, green);
  if (result == status::success && out && *green) {
    *out = (*green)->primary;
    return result;
  }
  return result == status::success ? cuStreamGetCtx(queue, out) : result;
}

}  // namespace simcuda::api
