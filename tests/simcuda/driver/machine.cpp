// SPDX-License-Identifier: Apache-2.0
#include "driver/machine.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "driver/visible_devices.h"

namespace simcuda {
machine& machine::instance() {
  static machine* const only = new machine(script_of_environment());
  return *only;
}

machine::machine(std::optional<script> wanted)
    : settings(wanted.value_or(default_script())), script_accepted_(wanted.has_value()) {
  for (const rule& one : settings.rules) rules_.emplace_back(one);
}

bool machine::find_devices() {
  if (devices_found_) return true;
  if (!settings.shared_account.empty()) {
    account = shared_account::open(settings.shared_account);
    if (!account || !account->join()) return false;
  }
  devices_found_ = true;
  auto all = settings.devices;
  const char* order = std::getenv("CUDA_DEVICE_ORDER");
  if (order && std::string_view(order) == "PCI_BUS_ID") sort_by_pci(all);
  for (const auto& description : visible_devices(all, std::getenv("CUDA_VISIBLE_DEVICES"))) {
    const auto ordinal = static_cast<device_ordinal>(devices.size());
    devices.push_back(std::make_unique<device>(ordinal, description, settings.reuse, account.get()));
    contexts.add_primary(*devices.back());
  }
  return true;
}

std::vector<armed_rule*> machine::rules_for(const char* call) {
  std::vector<armed_rule*> result;
  for (armed_rule& one : rules_) {
    if (one.wanted().call == call) result.push_back(&one);
  }
  return result;
}

device* machine::find_device(device_ordinal ordinal) const {
  const bool exists = ordinal >= 0 && std::cmp_less(ordinal, devices.size());
  return exists ? devices[static_cast<std::size_t>(ordinal)].get() : nullptr;
}

device* machine::find_device(const uuid& id) const {
  for (const auto& one : devices) {
    if (std::ranges::equal(one->description().uuid, id.bytes)) return one.get();
  }
  return nullptr;
}

bool machine::is_pool(const memory_pool* handle) const {
  if (pools.contains(handle)) return !handle->destroyed;
  for (const auto& [key, known] : special_pools_) {
    if (known.made.get() == handle) return true;
  }
  for (const auto& owner : devices) {
    if (owner->default_pool() == handle) return true;
  }
  return false;
}

machine::special_pool& machine::special(memory_location where, int allocation_type) {
  special_pool& found = special_pools_[{where.type, where.id, allocation_type}];
  if (!found.made) {
    found.made = std::make_unique<memory_pool>(*devices.front(), 0, false);
    found.current = found.made.get();
  }
  return found;
}

memory_pool*& machine::current_pool(memory_location where, int allocation_type) {
  return special(where, allocation_type).current;
}

memory_pool* machine::default_pool(memory_location where, int allocation_type) {
  return special(where, allocation_type).made.get();
}

bool machine::usable(const stream* queue) const {
  constexpr std::uintptr_t legacy_stream = 1, per_thread_stream = 2;
  const auto value = reinterpret_cast<std::uintptr_t>(queue);
  return value == 0 || value == legacy_stream || value == per_thread_stream || streams.contains(queue);
}

stream_capture* machine::capture_of(const stream* queue) const {
  return streams.contains(queue) ? queue->capture : nullptr;
}

status machine::queue_work(stream* queue, int type, std::function<void()> work, bool& captured) {
  captured = false;
  if (!usable(queue)) return status::invalid_handle;
  if (!streams.contains(queue)) return graphs.default_stream_work();
  stream_capture* capture = queue->capture;
  if (!capture) return status::success;
  if (capture->invalidated) return status::capture_invalidated;
  captured = true;
  capture->last[queue] = graphs.add(*capture->into, {.type = type, .work = std::move(work)});
  if (queue != capture->origin) capture->unjoined.insert(queue);
  return status::success;
}

void machine::retire(memory_pool& pool) {
  device& owner = pool.owner;
  if (owner.current_pool() == &pool) owner.set_current_pool(owner.default_pool());
  for (auto& [key, known] : special_pools_) {
    if (known.current == &pool) known.current = known.made.get();
  }
  pool.destroyed = true;
  release_to_pool(pool, 0);
}

void machine::release_to_pool(memory_pool& pool, std::size_t bytes) {
  pool.shrink_used(bytes);
  if (!pool.destroyed || pool.used) return;
  pool.trim(0);
  pool.owner.remove_pool(&pool);
  pools.destroy(&pool);
}

}  // namespace simcuda
