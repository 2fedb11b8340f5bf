#include "render/live_sites.hpp"

#include <algorithm>

#include "render/text_parts.hpp"

namespace gpumem {
namespace {

bool is_live(LeakClass what) {
  return what == LeakClass::growing || what == LeakClass::held || what == LeakClass::free_failed;
}

void add_share(std::vector<Share>& shares, std::uint64_t stack, const Usage& amount) {
  const auto found =
      std::find_if(shares.begin(), shares.end(), [stack](const Share& each) { return each.key == stack; });
  if (found == shares.end()) {
    shares.push_back({stack, amount});
  } else {
    found->amount += amount;
  }
}

}  // namespace

std::vector<LiveOfTotal> live_by_site(const ProcessAnalysis& process) {
  std::vector<LiveOfTotal> result;
  for (const auto& [key, amount] : live_totals(process)) {
    LiveOfTotal of{key, amount, {}};
    for (const auto& each : process.leaks) {
      if (each.site.total == key && is_live(each.what)) add_share(of.by_stack, each.site.stack, each.amount);
    }
    std::stable_sort(of.by_stack.begin(), of.by_stack.end(),
                     [](const Share& a, const Share& b) { return a.amount.bytes > b.amount.bytes; });
    result.push_back(std::move(of));
  }
  return result;
}

}  // namespace gpumem
