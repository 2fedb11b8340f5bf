// What a failed request wants to know of the live blocks: who holds most, and how they lie.
#include <algorithm>

#include "analyze/live_table.hpp"

namespace gpumem {

std::vector<HeldSite> LiveTable::largest_on(DeviceOrdinal device) const {
  return largest_of(Counts::device_memory, device);
}

std::vector<HeldSite> LiveTable::largest_in_host_memory() const {
  return largest_of(Counts::host_memory, std::nullopt);
}

std::vector<HeldSite> LiveTable::largest_of(Counts counts, std::optional<DeviceOrdinal> device) const {
  constexpr std::size_t most_sites = 5;
  std::vector<HeldSite> largest;
  for (const auto& [key, site] : sites_) {
    const bool is_there = (!device || key.total.device == device) && counts_of(key.total.kind) == counts;
    if (is_there && site.live.now().blocks > 0) largest.push_back({key, site.live.now()});
  }
  std::stable_sort(largest.begin(), largest.end(),
                   [](const auto& a, const auto& b) { return a.amount.bytes > b.amount.bytes; });
  if (largest.size() > most_sites) largest.resize(most_sites);
  return largest;
}

DeviceLayout LiveTable::layout_on(DeviceOrdinal device, std::uint64_t most) const {
  DeviceLayout layout;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const auto& [_, block] : blocks_) {
    const TotalKey& total = block.site.total;
    if (total.device != device || counts_of(total.kind) != Counts::device_memory) continue;
    ++layout.blocks;
    if (block.address != 0) ranges.emplace_back(block.address, block.address + static_cast<std::uint64_t>(block.bytes));
  }
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first <= ranges[i - 1].second) continue;
    const std::uint64_t gap = ranges[i].first - ranges[i - 1].second;
    if (gap < most) layout.largest_gap = std::max(layout.largest_gap, gap);
  }
  return layout;
}

}  // namespace gpumem
