#include "analyze/leak_classes.hpp"

#include <algorithm>
#include <tuple>

namespace gpumem {

std::vector<leak> classify_leaks(const live_table& table, std::uint64_t end_ns) {
  std::vector<leak> found;
  for (const auto& [key, site] : table.sites()) {
    leak base{leak_class::held, key, {}, site.allocated, site.first_ns, site.last_ns, {}};
    const auto add = [&found, &base](leak_class what, const usage& amount) {
      if (amount.blocks <= 0) return;
      base.what = what;
      base.amount = amount;
      found.push_back(base);
    };
    add(leak_class::dropped, site.dropped);
    add(leak_class::freed_at_exit, site.freed_at_exit);
    add(leak_class::free_failed, site.free_failed);
    usage others = site.live.now();
    others += -site.free_failed;
    base.minima = site.growth.minima(end_ns);
    add(growth_windows::keep_growing(base.minima) ? leak_class::growing : leak_class::held, others);
  }
  std::stable_sort(found.begin(), found.end(), [](const leak& a, const leak& b) {
    return std::tuple(a.what, -a.amount.bytes) < std::tuple(b.what, -b.amount.bytes);
  });
  return found;
}

}  // namespace gpumem
