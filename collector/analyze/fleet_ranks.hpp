// Who of the processes is which rank, and which ranks are missing or far above the others.
#pragma once

#include "analyze/fleet.hpp"

namespace gpumem {

// Fills in ranks, children and the order of the processes, before anything refers to them by their place.
void find_ranks(Fleet& fleet);

// After the peaks of the processes are known.
void compare_ranks(Fleet& fleet);

}  // namespace gpumem
