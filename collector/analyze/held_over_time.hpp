// What one process held of each device over time, and which call sites held it at one moment: read from its journal.
//
// Times are those of the journal. A point stands for every change of the held bytes, 16 bytes each in memory: so sums
// of several processes can be exact. Where events are missing, the value is that of the newest checkpoint before, but
// for the one highest moment that the checkpoint after it knows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/live_table.hpp"
#include "model/journal_set.hpp"

namespace gpumem {

struct HeldPoint {
  std::uint64_t ns = 0;
  std::uint64_t bytes = 0;  // live device memory, until the next point
};

struct HeldOnDevice {
  std::vector<HeldPoint> points;       // in the order of time
  std::vector<std::uint64_t> summits;  // of points that a checkpoint tells of, without their call sites
  bool has_context = false;            // at any time
  std::uint64_t peak = 0;
};

struct HeldOverTime {
  std::map<DeviceOrdinal, HeldOnDevice> devices;  // that have a context or had memory

  // For which earlier time the value at `ns` is known; nothing where it is exact.
  std::optional<std::uint64_t> as_of(DeviceOrdinal device, std::uint64_t ns) const;
  bool is_summit(DeviceOrdinal device, std::uint64_t ns) const;

  std::vector<std::pair<std::uint64_t, std::uint64_t>> unknown;  // since, until
  std::vector<std::uint64_t> checkpoints;
};

// Reads leniently. Throws error where nothing can be read.
HeldOverTime read_held(const JournalFiles& files);

// The call sites that held most of each device at the moments, largest first.
using Moments = std::map<DeviceOrdinal, std::uint64_t>;
std::map<DeviceOrdinal, std::vector<HeldSite>> read_sites_held(const JournalFiles& files, const Moments& moments);

}  // namespace gpumem
