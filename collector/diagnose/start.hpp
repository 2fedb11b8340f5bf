// A failed start, or a later call that failed with the code of one.
#pragma once

#include "diagnose/scene.hpp"

namespace gpumem {

// Whether the table of causes has any for the code.
bool is_explained_by_causes(const Scene& scene);

// The proven or likely cause, or all that remain, each with the check that would decide.
Diagnosis diagnose_start(const Scene& scene);

}  // namespace gpumem
