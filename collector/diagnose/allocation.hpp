// A failed allocation, or another call that could not get the memory that it needs.
#pragma once

#include "diagnose/scene.hpp"

namespace gpumem {

Diagnosis diagnose_allocation(const Scene& scene);

}  // namespace gpumem
