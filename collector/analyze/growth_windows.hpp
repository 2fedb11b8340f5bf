// Does the live memory of a call site keep growing? Answered from a fixed number of windows over its lifetime.
//
// Each window keeps the least bytes that were live in it, so that memory which is freed again in time does not count.
// The length of the session need not be known beforehand: when the windows are full, pairs merge and all get twice as
// wide. Memory: a constant per site.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace gpumem {

class GrowthWindows {
 public:
  static constexpr std::size_t most = 12;

  // The site's live bytes just after a change. Times that run slightly backwards count as now.
  void record(std::uint64_t ns, std::int64_t live_bytes);

  // The least live bytes of each window from the site's first allocation to `end_ns`.
  std::vector<std::int64_t> minima(std::uint64_t end_ns) const;

  // Growing: the minima never fall, rise in at least two thirds of the steps, and still rise in the last quarter.
  // Fewer than six windows decide nothing.
  static bool keep_growing(const std::vector<std::int64_t>& minima);

 private:
  void advance(std::uint64_t ns);

  std::array<std::int64_t, most> minima_{};
  std::size_t used_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t width_ns_ = 1;
  std::int64_t live_ = 0;
};

}  // namespace gpumem
