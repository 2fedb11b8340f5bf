// What is known of the process and the machine just after a call has failed.
#pragma once

#include "journal/records.hpp"

namespace gpumem {

struct Session;

// Writes the `state` and the `probe` that the failure deserves, after its own line. Of the driver nothing is asked but
// its log; with a probe it takes as long as GPUMEM_PROBE_TIMEOUT_MS and a little more. Not while a lock is held.
void take_picture(Session& session, const FailureRecord& failure);

}  // namespace gpumem
