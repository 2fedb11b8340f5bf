// SPDX-License-Identifier: Apache-2.0
// The runtime's own state: whether CUDA started, the thread's device and context, the last error.
#pragma once

#include <string_view>
#include <utility>

#include "common/trace.h"
#include "runtime/driver_link.h"

namespace simcuda {

/// What a runtime function does before its body; each includes the ones before it.
enum class need {
  nothing,
  start,    // load and initialise the driver once; its failure is answered by every later call, too
  context,  // have the device's primary context current on this thread
};

status start();
/// Retains the primary context of the thread's device when no living context is current.
status ensure_context();
/// The driver's functions, in the form that the running call wants for the default stream; only after start()
/// succeeded.
const driver_functions& driver();
/// Loads the driver if that has not been tried: also good when the start fails. nullptr: there is no driver.
const driver_link* loaded_driver();

/// The version that this runtime is, and asks of the driver.
inline constexpr int runtime_version = SIMCUDA_RUNTIME_VERSION;
/// Until CUDA 12 a chosen device got its context from the first call that needed one.
inline constexpr bool choosing_starts_device = runtime_version >= 12000;
/// Any driver of the same major version will do.
inline constexpr int least_driver_version = runtime_version / 1000 * 1000;

/// The driver is about to shut down or has; nothing needs to be given back to it.
bool exit_began();

int current_device();
/// Makes the device the thread's, and its primary context current where it has one or gets one now.
status choose_device(int device);
/// A device's primary context, which is kept alive from here on.
status primary_of(int device, context*& out);
/// The thread's device lost its primary context; the next call makes a new one.
status reset_device();

/// The thread's last error, which calls that succeed leave alone.
status& last_error();

/// While this lives, the thread's driver calls have the form of the runtime function: with the default stream per
/// thread when its name ends in _ptsz or _ptds.
class default_stream_form {
 public:
  explicit default_stream_form(std::string_view runtime_function);
  ~default_stream_form();
  default_stream_form(const default_stream_form&) = delete;
  default_stream_form& operator=(const default_stream_form&) = delete;

 private:
  bool before_;
};

template <class Body>
status enter(const char* name, need needed, Body&& body) {
  status result = needed == need::nothing ? status::success : start();
  if (result == status::success && needed == need::context) result = ensure_context();
  if (result == status::success) {
    const default_stream_form form(name);
    result = std::forward<Body>(body)();
  }
  if (result != status::success) last_error() = result;
  trace::call(name, result);
  return result;
}

status not_simulated(const char* name);

}  // namespace simcuda

#define SIMCUDA_DEFAULT_ENTRY(name) \
  extern "C" [[gnu::weak, gnu::visibility("default")]] simcuda::status name() { return simcuda::not_simulated(#name); }
