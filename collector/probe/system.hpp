// What of the system, the container and the user's settings decides whether CUDA can start.
#pragma once

#include "probe/section.hpp"

namespace gpumem {

void tell_system(Findings& findings);

}  // namespace gpumem
