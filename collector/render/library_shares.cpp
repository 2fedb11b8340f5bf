#include "render/library_shares.hpp"

#include <algorithm>

namespace gpumem {

std::vector<library_share> shares_by_library(const peak_breakdown& peak, call_names& names) {
  std::map<std::string, usage> sums;
  for (const auto& each : peak.by_stack) sums[names.of(each.key).library] += each.amount;
  std::vector<library_share> shares;
  for (const auto& [library, amount] : sums) shares.push_back({library.empty() ? "(unknown)" : library, amount});
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.amount.bytes > b.amount.bytes; });
  return shares;
}

}  // namespace gpumem
