// SPDX-License-Identifier: Apache-2.0
#include "runtime/start.h"

#include <mutex>
#include <vector>

#include "runtime/program_code.h"

namespace simcuda {
namespace {

/// Which devices' primary contexts this runtime holds. Never destroyed: calls may come while the process ends.
struct primary_contexts {
  std::mutex mutex;
  std::vector<context*> held;  // by device; nullptr: not held
};

primary_contexts& primaries() {
  static auto* const only = new primary_contexts;
  return *only;
}

thread_local int device = 0;

status start_once() {
  const driver_link* link = loaded_driver();
  if (!link) return status::insufficient_driver;
  const driver_functions& functions = link->functions();
  int version = 0;
  if (!functions.cuDriverGetVersion || functions.cuDriverGetVersion(&version) != status::success ||
      version < runtime_version) {
    return status::insufficient_driver;
  }
  const status initialised = functions.cuInit(0);
  if (initialised != status::success) return initialised;
  int count = 0;
  const status counted = functions.cuDeviceGetCount(&count);
  if (counted != status::success) return status::not_initialized;
  primaries().held.resize(static_cast<std::size_t>(count));
  return status::success;
}

/// The primary context of a device, retained at the first request.
status hold_primary(int ordinal, context*& out, bool& is_new) {
  auto& all = primaries();
  const std::lock_guard guard(all.mutex);
  context*& slot = all.held[static_cast<std::size_t>(ordinal)];
  is_new = !slot;
  if (is_new) {
    const status retained = driver().cuDevicePrimaryCtxRetain(&slot, ordinal);
    if (retained != status::success) return retained;
  }
  out = slot;
  return status::success;
}

status use_primary(int ordinal) {
  context* primary = nullptr;
  bool is_new = false;
  status result = hold_primary(ordinal, primary, is_new);
  if (result == status::success) result = driver().cuCtxSetCurrent(primary);
  if (result == status::success && is_new) result = program_code::instance().place_managed_variables();
  return result;
}

bool is_dead_primary(const context* current) {
  unsigned flags = 0;
  int active = 0;
  int ordinal = 0;
  const status known = driver().cuCtxGetDevice(&ordinal);
  if (known == status::context_is_destroyed) return true;
  auto& all = primaries();
  const std::lock_guard guard(all.mutex);
  if (known != status::success || all.held[static_cast<std::size_t>(ordinal)] != current) return false;
  return driver().cuDevicePrimaryCtxGetState(ordinal, &flags, &active) == status::success && !active;
}

}  // namespace

const driver_link* loaded_driver() {
  static driver_link* const link = [] {
    auto* candidate = new driver_link;
    return candidate->open() ? candidate : nullptr;
  }();
  return link;
}

const driver_functions& driver() { return loaded_driver()->functions(); }

status start() {
  static const status result = start_once();
  return result;
}

status ensure_context() {
  context* current = nullptr;
  const status known = driver().cuCtxGetCurrent(&current);
  if (known != status::success) return known;
  return current && !is_dead_primary(current) ? status::success : use_primary(device);
}

int current_device() { return device; }

status choose_device(int wanted) {
  if (wanted < 0 || std::cmp_greater_equal(wanted, primaries().held.size())) return status::invalid_device;
  const status result = use_primary(wanted);
  if (result == status::success) device = wanted;
  return result;
}

status reset_device() {
  auto& all = primaries();
  const std::lock_guard guard(all.mutex);
  all.held[static_cast<std::size_t>(device)] = nullptr;
  return driver().cuDevicePrimaryCtxReset(device);
}

status& last_error() {
  thread_local status error = status::success;
  return error;
}

status not_simulated(const char* name) {
  return enter(name, need::start, [name] {
    trace::line("%s is not simulated", name);
    return status::not_supported;
  });
}

}  // namespace simcuda
