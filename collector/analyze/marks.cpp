#include "analyze/marks.hpp"

#include <algorithm>

namespace gpumem {
namespace {

void fill(MarkedMoment& moment, const LiveTable& live) {
  moment.is_known = live.lists_blocks();
  for (const auto& [key, _] : live.totals()) {
    if (moment.is_known && key.device && counts_of(key.kind) == Counts::device_memory)
      moment.on_device[*key.device] = live.bytes_on(*key.device);
  }
}

}  // namespace

void Marks::add(const std::vector<Mark>& all) {
  for (std::size_t i = moments_.size(); i < all.size(); ++i) moments_.push_back({all[i], false, {}});
}

void Marks::add_told(const MarkRecord& line, const LiveTable& live) {
  if (line.ends) return;
  if (told_.size() == most_told) told_.pop_front();
  fill(told_.emplace_back(MarkedMoment{{line.ns, line.text}, false, {}}), live);
}

void Marks::skip_to(std::uint64_t ns) {
  while (next_ < moments_.size() && moments_[next_].mark.ns < ns) ++next_;
}

void Marks::settle(std::uint64_t ns, const LiveTable& live) {
  for (; next_ < moments_.size() && moments_[next_].mark.ns < ns; ++next_) fill(moments_[next_], live);
}

std::vector<MarkedMoment> Marks::moments(const LiveTable& live) const {
  auto all = moments_;
  for (std::size_t i = next_; i < all.size(); ++i) fill(all[i], live);
  all.insert(all.end(), told_.begin(), told_.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.mark.ns < b.mark.ns; });
  return all;
}

}  // namespace gpumem
