// Who holds what is live.
#pragma once

#include <vector>

#include "analyze/analyze.hpp"

namespace gpumem {

struct LiveOfTotal {
  TotalKey total;
  Usage all;
  std::vector<Share> by_stack;  // largest first
};

// In the order of reports.
std::vector<LiveOfTotal> live_by_site(const ProcessAnalysis& process);

}  // namespace gpumem
