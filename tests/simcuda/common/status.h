// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace simcuda {

/// Result codes of the driver and of the runtime, which share one numbering. Only those that the simulator itself
/// answers have a name; a script may ask for any number. error_codes.def has all names and texts.
enum class status : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  deinitialized = 4,
  invalid_configuration = 9,
  invalid_pitch = 12,
  invalid_symbol = 13,
  insufficient_driver = 35,
  device_unavailable = 46,
  invalid_device_function = 98,
  no_device = 100,
  invalid_device = 101,
  invalid_context = 201,
  already_mapped = 208,
  not_mapped = 211,
  not_mapped_as_array = 212,
  not_mapped_as_pointer = 213,
  context_already_in_use = 216,
  peer_access_unsupported = 217,
  operating_system = 304,
  invalid_handle = 400,
  illegal_state = 401,
  not_found = 500,
  not_ready = 600,
  peer_access_already_enabled = 704,
  peer_access_not_enabled = 705,
  primary_context_active = 708,
  context_is_destroyed = 709,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  not_supported = 801,
  capture_unsupported = 900,
  capture_invalidated = 901,
  capture_merge = 902,
  capture_unmatched = 903,
  capture_unjoined = 904,
  capture_isolation = 905,
  capture_implicit = 906,
  captured_event = 907,
  capture_wrong_thread = 908,
  invalid_configuration_of_resource = 915,
  unknown = 999,
};

}  // namespace simcuda
