// SPDX-License-Identifier: Apache-2.0
// Prototypes of the bodies behind the driver's exports, derived from api.def.
#pragma once

#include "driver/types.h"

namespace simcuda::api {

#define API_AS(export, body, gate, parameters, arguments) status body parameters;
#include "driver/api.def"

}  // namespace simcuda::api
