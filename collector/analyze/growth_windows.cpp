#include "analyze/growth_windows.hpp"

#include <algorithm>

namespace gpumem {

void GrowthWindows::advance(std::uint64_t ns) {
  const std::uint64_t age = ns > first_ns_ ? ns - first_ns_ : 0;
  while (age / width_ns_ >= most) {
    for (std::size_t pair = 0; pair < most / 2; ++pair) {
      const std::size_t left = 2 * pair;
      // Windows not reached yet hold what is live now, for they will begin with it.
      const auto value = [this](std::size_t i) { return i < used_ ? minima_[i] : live_; };
      minima_[pair] = std::min(value(left), value(left + 1));
    }
    used_ = std::min(used_, (used_ + 1) / 2);
    width_ns_ *= 2;
  }
  for (const std::size_t needed = age / width_ns_ + 1; used_ < needed; ++used_) minima_[used_] = live_;
}

void GrowthWindows::record(std::uint64_t ns, std::int64_t live_bytes) {
  if (used_ == 0) {
    first_ns_ = ns;
    live_ = live_bytes;
  }
  advance(ns);
  live_ = live_bytes;
  minima_[used_ - 1] = std::min(minima_[used_ - 1], live_);
}

std::vector<std::int64_t> GrowthWindows::minima(std::uint64_t end_ns) const {
  if (used_ == 0) return {};
  GrowthWindows finished = *this;
  finished.advance(end_ns);
  return {finished.minima_.begin(), finished.minima_.begin() + static_cast<std::ptrdiff_t>(finished.used_)};
}

bool GrowthWindows::keep_growing(const std::vector<std::int64_t>& minima) {
  if (minima.size() < most / 2) return false;
  const std::size_t steps = minima.size() - 1;
  const std::size_t last_quarter = steps - std::max<std::size_t>(1, steps / 4);
  std::size_t rises = 0;
  bool rises_late = false;
  for (std::size_t step = 0; step < steps; ++step) {
    if (minima[step + 1] < minima[step]) return false;
    if (minima[step + 1] == minima[step]) continue;
    ++rises;
    rises_late = rises_late || step >= last_quarter;
  }
  return rises_late && 3 * rises >= 2 * steps;
}

}  // namespace gpumem
