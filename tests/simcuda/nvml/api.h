// SPDX-License-Identifier: Apache-2.0
// Prototypes derived from api.def: the bodies behind NVML's exports, and the types of the exports.
#pragma once

#include "nvml/types.h"

namespace simcuda::nvml::api {

#define API_AS(export, body, need, parameters, arguments) outcome body parameters;
#include "nvml/api.def"

}  // namespace simcuda::nvml::api

namespace simcuda::nvml::signature {

#define API_AS(export, body, need, parameters, arguments) using export = outcome parameters;
#include "nvml/api.def"

}  // namespace simcuda::nvml::signature
