// A call that was entered and has not returned: what is known of it, and what can keep it, each with the check that
// would decide.
#pragma once

#include "diagnose/scene.hpp"

namespace gpumem {

// `machine`: as a probe before it told, or null. The verdict is open, but for what the process itself shows: a crash
// inside the call, a fork after CUDA had been started, a process that is stopped.
Diagnosis diagnose_hang(const EventRecord& begin, const ProcessAnalysis& process, const Machine* machine,
                        Neighbourhood& neighbours);

// The newest look at the machine that the journal has.
std::optional<ProbeRecord> newest_probe(const ProcessAnalysis& process);

}  // namespace gpumem
