// SPDX-License-Identifier: Apache-2.0
// Memory and events of other processes.
#include <unistd.h>

#include <cstring>

#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {
namespace {

template <class Export>
void store(ipc_handle& out, const Export& what) {
  out = {};
  std::memcpy(out.bytes, &what, sizeof what);
}

/// false: the handle is none of this kind.
template <class Export>
bool load(const ipc_handle& from, Export& out) {
  const Export empty;
  std::memcpy(&out, from.bytes, sizeof out);
  return std::memcmp(out.mark, empty.mark, sizeof out.mark) == 0;
}

}  // namespace

status cuIpcGetMemHandle(ipc_handle* out, device_ptr address) {
  if (!out) return status::invalid_value;
  const locked_machine sim;
  const block* found = sim->blocks.containing(address);
  if (!found || found->kind != block_kind::linear) return status::invalid_value;
  memory_export what;
  if (!describe_export(*found, what)) return status::not_supported;
  store(*out, what);
  return status::success;
}

status cuIpcOpenMemHandle(device_ptr* out, ipc_handle handle, unsigned flags) {
  constexpr unsigned enable_peer_access = 1;
  memory_export wanted;
  if (!out || flags != enable_peer_access || !load(handle, wanted)) return status::invalid_value;
  if (wanted.process == getpid()) return status::invalid_context;
  const locked_machine sim;
  device* owner = sim->find_device(wanted.owner);
  if (!owner) return status::invalid_device;
  return sim->imports.open(wanted, *owner, &current_context(), *out);
}

status cuIpcCloseMemHandle(device_ptr address) {
  const locked_machine sim;
  return sim->imports.close(address);
}

status cuIpcGetEventHandle(ipc_handle* out, event* mark) {
  constexpr unsigned disable_timing = 2, interprocess = 4;
  const locked_machine sim;
  if (!sim->events.contains(mark)) return status::invalid_handle;
  if (!out || (mark->flags & (disable_timing | interprocess)) != (disable_timing | interprocess)) {
    return status::invalid_value;
  }
  event_export what;
  what.process = getpid();
  what.id = reinterpret_cast<std::uintptr_t>(mark);
  store(*out, what);
  return status::success;
}

status cuIpcOpenEventHandle(event** out, ipc_handle handle) {
  event_export wanted;
  if (!out || !load(handle, wanted)) return status::invalid_value;
  constexpr unsigned disable_timing = 2;
  const locked_machine sim;
  *out = sim->events.create(&current_context(), disable_timing, std::nullopt);
  return status::success;
}

}  // namespace simcuda::api
