#include "render/library_shares.hpp"

#include <algorithm>

namespace gpumem {

std::vector<LibraryShare> shares_by_library(const PeakBreakdown& peak, CallNames& names) {
  std::map<std::string, Usage> sums;
  for (const auto& each : peak.by_stack) sums[names.of(each.key).library] += each.amount;
  std::vector<LibraryShare> shares;
  for (const auto& [library, amount] : sums) shares.push_back({library.empty() ? "(unknown)" : library, amount});
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.amount.bytes > b.amount.bytes; });
  return shares;
}

}  // namespace gpumem
