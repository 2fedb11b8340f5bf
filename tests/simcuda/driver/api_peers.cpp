// SPDX-License-Identifier: Apache-2.0
// Access to the memory of other devices: allowed or not by the script, noted, and not enforced.
#include "driver/api.h"
#include "driver/machine.h"

namespace simcuda::api {

status cuDeviceCanAccessPeer(int* can, device_ordinal ordinal, device_ordinal peer) {
  if (!can) return status::invalid_value;
  const locked_machine sim;
  if (!sim->find_device(ordinal) || !sim->find_device(peer)) return status::invalid_device;
  *can = sim->settings.peer_access && ordinal != peer;
  return status::success;
}

status cuDeviceGetP2PAttribute(int* value, int attribute, device_ordinal ordinal, device_ordinal peer) {
  constexpr int rank = 1, access = 2, array_access = 4;
  if (!value || attribute < rank || attribute > array_access || ordinal == peer) return status::invalid_value;
  const status result = cuDeviceCanAccessPeer(value, ordinal, peer);
  if (result == status::success && attribute != access && attribute != array_access) *value = 0;
  return result;
}

status cuCtxEnablePeerAccess(context* peer, unsigned flags) {
  const locked_machine sim;
  const status known = sim->contexts.check(peer);
  if (known != status::success || flags) return flags ? status::invalid_value : known;
  context& current = current_context();
  if (&peer->owner == &current.owner) return status::invalid_device;
  if (!sim->settings.peer_access) return status::peer_access_unsupported;
  return current.peers.insert(peer).second ? status::success : status::peer_access_already_enabled;
}

status cuCtxDisablePeerAccess(context* peer) {
  const locked_machine sim;
  const status known = sim->contexts.check(peer);
  if (known != status::success) return known;
  return current_context().peers.erase(peer) ? status::success : status::peer_access_not_enabled;
}

}  // namespace simcuda::api
