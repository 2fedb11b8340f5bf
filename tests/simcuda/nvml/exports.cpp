// SPDX-License-Identifier: Apache-2.0
// NVML's exported functions, derived from api.def, and the one that answers a text.
#include "nvml/api.h"
#include "nvml/system.h"

namespace simcuda::nvml {
extern "C" {

#define API_AS(export, body, needed, parameters, arguments)                \
  [[gnu::visibility("default")]] outcome export parameters {               \
    static call_site site{#export};                                        \
    return enter(site, need::needed, [&] { return api::body arguments; }); \
  }
#include "nvml/api.def"

[[gnu::visibility("default")]] const char* nvmlErrorString(outcome code) {
  switch (static_cast<int>(code)) {
#define NVML_TEXT(code, text) \
  case code:                  \
    return text;
#include "nvml/error_texts.def"
#undef NVML_TEXT
    default: return "Unknown Error";
  }
}

}  // extern "C"
}  // namespace simcuda::nvml
