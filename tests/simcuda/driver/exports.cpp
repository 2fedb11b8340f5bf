// SPDX-License-Identifier: Apache-2.0
// The driver's exported functions, derived from api.def: each passes the gate and runs its body.
#include "driver/api.h"
#include "driver/call_gate.h"

namespace simcuda {
extern "C" {

#define API_AS(export, body, needed, parameters, arguments)                \
  [[gnu::visibility("default")]] status export parameters {                \
    static call_site site{#export};                                        \
    return enter(site, gate::needed, [&] { return api::body arguments; }); \
  }
#include "driver/api.def"

}  // extern "C"
}  // namespace simcuda
