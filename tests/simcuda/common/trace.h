// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/status.h"

namespace simcuda::trace {

/// SIMCUDA_TRACE names a file to append to, or is "-" for stderr. Read once, at the first call.
bool enabled() noexcept;

/// One line per finished call: "cuMemAlloc_v2 -> 2".
void call(const char* name, status result) noexcept;

/// One line in printf style; does nothing when tracing is off.
[[gnu::format(printf, 1, 2)]] void line(const char* format, ...) noexcept;

}  // namespace simcuda::trace
