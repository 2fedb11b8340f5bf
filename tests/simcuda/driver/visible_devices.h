// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "driver/script.h"

namespace simcuda {

/// "GPU-" and 32 hexadecimal digits in five groups.
std::string uuid_text(const std::array<unsigned char, 16>& uuid);

/// The devices that CUDA_VISIBLE_DEVICES leaves, in its order. Entries are indices or beginnings of UUIDs; the list
/// ends at the first entry that is neither, ambiguous or repeated. nullptr: the variable is not set, all devices stay.
std::vector<device_description> visible_devices(const std::vector<device_description>& all, const char* variable);

}  // namespace simcuda
