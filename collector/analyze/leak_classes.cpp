#include "analyze/leak_classes.hpp"

#include <algorithm>
#include <tuple>

namespace gpumem {

std::vector<Leak> classify_leaks(const LiveTable& table, std::uint64_t end_ns) {
  std::vector<Leak> found;
  for (const auto& [key, site] : table.sites()) {
    Leak base{LeakClass::held, key, {}, site.allocated, site.first_ns, site.last_ns, {}, 0, 0, {}};
    const auto add = [&found, &base](LeakClass what, const Usage& amount) {
      if (amount.blocks <= 0) return;
      base.what = what;
      base.amount = amount;
      found.push_back(base);
    };
    add(LeakClass::dropped, site.dropped);
    add(LeakClass::freed_at_exit, site.freed_at_exit);
    add(LeakClass::free_failed, site.free_failed);
    Usage others = site.live.now();
    others += -site.free_failed;
    base.minima = site.growth.minima(end_ns);
    base.further_references = site.further_references;
    base.exported = site.exported;
    base.owner = site.owner;
    add(GrowthWindows::keep_growing(base.minima) ? LeakClass::growing : LeakClass::held, others);
  }
  std::stable_sort(found.begin(), found.end(), [](const Leak& a, const Leak& b) {
    return std::tuple(a.what, -a.amount.bytes) < std::tuple(b.what, -b.amount.bytes);
  });
  return found;
}

}  // namespace gpumem
