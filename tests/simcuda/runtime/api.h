// SPDX-License-Identifier: Apache-2.0
// Prototypes of the bodies behind the runtime's exports, derived from api.def.
#pragma once

#include "runtime/types.h"

namespace simcuda::runtime_api {

#define API_AS(export, body, need, parameters, arguments) status body parameters;
#include "runtime/api.def"

}  // namespace simcuda::runtime_api
