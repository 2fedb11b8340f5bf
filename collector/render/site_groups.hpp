// Call sites as a reader tells them apart: those whose shown stacks are the same are one, and those that would bear the
// same label get the frame in which they differ.
#pragma once

#include <string>
#include <vector>

#include "analyze/analyze.hpp"
#include "render/call_names.hpp"

namespace gpumem {

// One entry for each shown stack, largest first; the key is one of the stacks.
std::vector<Share> merge_sites(const std::vector<Share>& by_stack, CallNames& names);

// One entry for each class, total and shown stack, in the order of `leaks`. The windows of merged sites go, because
// each site has its own.
std::vector<Leak> merge_sites(const std::vector<Leak>& leaks, CallNames& names);

// Labels of stacks that stand in one table: "layer (x.cpp:18) ← loop" where the plain label would come twice.
std::vector<std::string> distinct_labels(const std::vector<std::uint64_t>& stacks, CallNames& names);

}  // namespace gpumem
