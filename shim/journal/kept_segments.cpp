#include "journal/kept_segments.hpp"

#include <algorithm>

namespace gpumem {

bool KeptSegments::add(const Segment& closed) {
  if (count_ == segments_.size()) return false;
  segments_[count_++] = closed;
  return true;
}

std::size_t KeptSegments::bytes() const {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < count_; ++i) sum += segments_[i].bytes;
  return sum;
}

std::size_t KeptSegments::beginnings() const {
  return static_cast<std::size_t>(std::count_if(segments_.begin(),
                                                segments_.begin() + static_cast<std::ptrdiff_t>(count_),
                                                [](const Segment& segment) { return !segment.whole; }));
}

KeptSegments::Step KeptSegments::take_out(std::size_t index, Segment& which) {
  which = segments_[index];
  const auto place = segments_.begin() + static_cast<std::ptrdiff_t>(index);
  std::copy(place + 1, segments_.begin() + static_cast<std::ptrdiff_t>(count_), place);
  --count_;
  return Step::remove;
}

KeptSegments::Step KeptSegments::next_step(std::size_t needed, std::size_t largest, std::uint32_t first_needed,
                                           Segment& which) {
  for (;;) {
    std::size_t oldest_whole = count_;
    for (std::size_t i = count_; i-- > 0;) {
      const Segment& segment = segments_[i];
      if (!segment.whole && !is_spaced(segment)) return take_out(i, which);
      if (segment.whole && segment.number != 0 && segment.number < first_needed) oldest_whole = i;
    }
    const bool fits = bytes() + needed <= largest;
    if (beginnings() <= most_beginnings && fits) return Step::none;
    if (!fits && oldest_whole < count_) {
      ++dropped_;
      Segment& segment = segments_[oldest_whole];
      if (segment.beginning == 0 || !is_spaced(segment)) return take_out(oldest_whole, which);
      segment.whole = false;
      segment.bytes = segment.beginning;
      which = segment;
      return Step::cut;
    }
    if (beginnings() == 0) return Step::none;
    spacing_ *= 2;
  }
}

}  // namespace gpumem
