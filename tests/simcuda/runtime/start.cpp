// SPDX-License-Identifier: Apache-2.0
#include "runtime/start.h"

#include <atomic>
#include <cstdlib>
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

std::atomic<bool> process_ends = false;

thread_local int device = 0;
thread_local bool per_thread_stream = false;

// How often a device was reset: a thread's primary context from before is gone.
std::atomic<unsigned> resets = 0;
thread_local const context* chosen_primary = nullptr;
thread_local unsigned chosen_at = 0;

status start_once() {
  const driver_link* link = loaded_driver();
  if (!link) return status::insufficient_driver;
  const driver_functions& functions = link->functions(false);
  int version = 0;
  if (!functions.cuDriverGetVersion || functions.cuDriverGetVersion(&version) != status::success ||
      version < least_driver_version) {
    return status::insufficient_driver;
  }
  const status initialised = functions.cuInit(0);
  if (initialised != status::success) return initialised;
  // Runs before the driver's own handler, which was registered earlier.
  std::atexit([] { process_ends = true; });
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

bool is_held(int ordinal) {
  auto& all = primaries();
  const std::lock_guard guard(all.mutex);
  return all.held[static_cast<std::size_t>(ordinal)] != nullptr;
}

status use_primary(int ordinal) {
  context* primary = nullptr;
  bool is_new = false;
  status result = hold_primary(ordinal, primary, is_new);
  if (result == status::success) result = driver().cuCtxSetCurrent(primary);
  chosen_primary = primary;
  chosen_at = resets;
  if (result == status::success && is_new) result = program_code::instance().place_managed_variables();
  return result;
}

}  // namespace

const driver_link* loaded_driver() {
  static driver_link* const link = [] {
    auto* candidate = new driver_link;
    return candidate->open() ? candidate : nullptr;
  }();
  return link;
}

const driver_functions& driver() { return loaded_driver()->functions(per_thread_stream); }

status start() {
  static const status result = start_once();
  return result;
}

status ensure_context() {
  context* current = nullptr;
  const status known = driver().cuCtxGetCurrent(&current);
  if (known != status::success) return known;
  const bool was_reset = current == chosen_primary && chosen_at != resets;
  return current && !was_reset ? status::success : use_primary(device);
}

status primary_of(int wanted, context*& out) {
  if (wanted < 0 || std::cmp_greater_equal(wanted, primaries().held.size())) return status::invalid_device;
  bool is_new = false;
  return hold_primary(wanted, out, is_new);
}

bool exit_began() { return process_ends; }

int current_device() { return device; }

status choose_device(int wanted) {
  if (wanted < 0 || std::cmp_greater_equal(wanted, primaries().held.size())) return status::invalid_device;
  const status result =
      choosing_starts_device || is_held(wanted) ? use_primary(wanted) : driver().cuCtxSetCurrent(nullptr);
  if (result == status::success) device = wanted;
  return result;
}

status reset_device() {
  auto& all = primaries();
  const std::lock_guard guard(all.mutex);
  all.held[static_cast<std::size_t>(device)] = nullptr;
  ++resets;
  return driver().cuDevicePrimaryCtxReset(device);
}

default_stream_form::default_stream_form(std::string_view runtime_function)
    : before_(std::exchange(per_thread_stream,
                            runtime_function.ends_with("_ptsz") || runtime_function.ends_with("_ptds"))) {}

default_stream_form::~default_stream_form() { per_thread_stream = before_; }

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
