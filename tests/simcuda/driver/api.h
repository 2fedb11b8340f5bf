// SPDX-License-Identifier: Apache-2.0
// Prototypes derived from api.def: the bodies behind the driver's exports, and the types of the exports.
#pragma once

#include "driver/resource_types.h"
#include "driver/types.h"

namespace simcuda::api {

#define API_AS(export, body, gate, parameters, arguments) status body parameters;
#include "driver/api.def"

}  // namespace simcuda::api

namespace simcuda::signature {

#define API_AS(export, body, gate, parameters, arguments) using export = status parameters;
#include "driver/api.def"

}  // namespace simcuda::signature
