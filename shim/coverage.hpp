// What of CUDA goes on where the shim cannot see it: the check against gaps that nobody notices.
//
// Two sources: libcuda itself, which calls InitializeInjection() inside cuInit where CUDA_INJECTION64_PATH names the
// shim, and a look at what is loaded when the process ends.
#pragma once

namespace gpumem {

// Writes a line where libcuda is loaded and its calls were not seen, or cannot be. Starts the session if need be.
// `had_session`: calls were seen, or InitializeInjection() has spoken.
void check_coverage_at_end(bool had_session);

}  // namespace gpumem
