// The highest use of each total, and who held it then.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/live_table.hpp"

namespace gpumem {

struct Share {
  std::uint64_t key = 0;  // stack for a call site, thread id for a thread
  Usage amount;
};

struct PeakBreakdown {
  TotalKey total;
  PeakMoment moment;
  std::vector<Share> by_stack;            // largest first
  std::vector<Share> by_thread;           // largest first
  std::optional<std::uint64_t> reported;  // the end line's peak, where it is higher than what the lines show
  // The events of the peak are not there: `by_stack` is the split of this sum of several kinds, close to its own peak.
  std::optional<SumAtPeak> snapshot;

  std::uint64_t bytes() const { return reported.value_or(moment.bytes); }
};

// By device, largest first; host memory last. `counters` and `snapshots` are the newest ones.
std::vector<PeakBreakdown> break_down_peaks(const LiveTable& live, const std::optional<TotalsRecord>& counters,
                                            const std::vector<SumAtPeak>& snapshots);

}  // namespace gpumem
