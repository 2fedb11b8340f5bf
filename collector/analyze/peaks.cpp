#include "analyze/peaks.hpp"

#include <algorithm>

namespace gpumem {
namespace {

void add_share(std::vector<Share>& shares, std::uint64_t key, const Usage& amount) {
  if (amount.blocks > 0) shares.push_back({key, amount});
}

// The sum that the total is a part of.
const SumAtPeak* snapshot_of(const TotalKey& total, const std::vector<SumAtPeak>& snapshots) {
  const auto counts = counts_of(total.kind);
  if (counts != (total.device ? Counts::device_memory : Counts::host_memory)) return nullptr;
  const auto found = std::find_if(snapshots.begin(), snapshots.end(),
                                  [&total](const SumAtPeak& each) { return each.device == total.device; });
  return found == snapshots.end() ? nullptr : &*found;
}

PeakBreakdown break_down(const TotalKey& key, const Total& of, const LiveTable& live, const SumAtPeak* snapshot) {
  PeakBreakdown result;
  result.total = key;
  result.moment = of.peak;
  if (!of.peak.is_placed && snapshot) result.snapshot = *snapshot;
  const SiteKey first{key, 0};
  for (auto site = live.sites().lower_bound(first); site != live.sites().end() && site->first.total == key; ++site) {
    const CallSite& values = site->second;
    add_share(result.by_stack, site->first.stack,
              of.peak.is_placed ? values.live.at_peak(of.peaks) : values.in_snapshot);
  }
  for (const auto& [tid, thread] : of.threads) {
    if (of.peak.is_placed) add_share(result.by_thread, static_cast<std::uint64_t>(tid), thread.at_peak(of.peaks));
  }
  for (auto* shares : {&result.by_stack, &result.by_thread}) {
    std::stable_sort(shares->begin(), shares->end(),
                     [](const Share& a, const Share& b) { return a.amount.bytes > b.amount.bytes; });
  }
  return result;
}

// The process counted on when it could not write or keep any more, so what it says at its end is the exact peak.
void take_reported(std::vector<PeakBreakdown>& peaks, const TotalsRecord& counters) {
  for (const auto& reported : counters.peaks) {
    const TotalKey key{reported.device, reported.kind};
    const auto seen =
        std::find_if(peaks.begin(), peaks.end(), [&key](const PeakBreakdown& each) { return each.total == key; });
    if (seen == peaks.end()) {
      PeakBreakdown unseen;
      unseen.total = key;
      unseen.reported = reported.bytes;
      peaks.push_back(std::move(unseen));
    } else if (seen->moment.bytes < reported.bytes) {
      seen->reported = reported.bytes;
    }
  }
}

}  // namespace

std::vector<PeakBreakdown> break_down_peaks(const LiveTable& live, const std::optional<TotalsRecord>& counters,
                                            const std::vector<SumAtPeak>& snapshots) {
  std::vector<PeakBreakdown> peaks;
  for (const auto& [key, of] : live.totals()) {
    peaks.push_back(break_down(key, of, live, snapshot_of(key, snapshots)));
  }
  if (counters) take_reported(peaks, *counters);
  std::stable_sort(peaks.begin(), peaks.end(), [](const PeakBreakdown& a, const PeakBreakdown& b) {
    if (a.total.device != b.total.device) return shown_before(a.total, b.total);
    return a.bytes() > b.bytes();
  });
  return peaks;
}

}  // namespace gpumem
