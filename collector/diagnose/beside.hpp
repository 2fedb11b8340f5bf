// What is told beside a verdict that leaves something open.
#pragma once

#include "diagnose/scene.hpp"

namespace gpumem {

// What of the machine could not be looked at, and why: no probe, one that told nothing, no NVML.
void tell_what_is_missing(const Scene& scene, Diagnosis& result);

// Runtimes and drivers.
void tell_software(const Scene& scene, Diagnosis& result);

}  // namespace gpumem
