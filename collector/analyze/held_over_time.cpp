#include "analyze/held_over_time.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/journal_reader.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

constexpr auto for_ever = std::numeric_limits<std::uint64_t>::max();

// Replays a journal as stretches of time in which nothing changes. `Watcher` sees every stretch, and what else it
// needs.
template <class Watcher>
class Replay {
 public:
  explicit Replay(Watcher& watcher) : watcher_(watcher) {}

  void read(const JournalFiles& files) {
    try {
      read_journal(files, Strictness::lenient, [this](const Record& line) {
        if (watcher_.has_enough()) throw Enough();
        std::visit([this](const auto& value) { take(value); }, line);
      });
    } catch (const Enough&) {
      return;
    }
    watcher_.stretch(since_, for_ever, live_);
  }

 private:
  struct Enough {};  // ends the reading: the rest of a long journal says nothing that is wanted

  template <class Line>
  void take(const Line&) {}

  void take(const ProcessRecord& line) {
    if (line.events) return;
    live_.restart(false);
    watcher_.gap(0, for_ever);
  }
  void take(const EventRecord& line) {
    pass(line.ns);
    live_.take(line, false);
    if (line.op == schema::op::context && line.device) watcher_.context(*line.device);
  }
  void take(const GapRecord& line) {
    pass(line.ns);
    live_.restart(line.lists_blocks);
    watcher_.gap(line.since_ns, line.lists_blocks ? line.ns : for_ever);
  }
  void take(const CheckpointRecord& line) {
    if (line.part == schema::part::end) return;
    // The call sites that come now change what is held; blocks that are listed are those that the gap ended with.
    if (!live_.lists_blocks()) pass(line.ns);
    live_.take(line);
    watcher_.checkpoint(line);
    for (const auto& context : line.contexts) {
      if (context.device) watcher_.context(*context.device);
    }
  }
  void take(const SiteRecord& line) { live_.take(line); }
  void take(const LiveRecord& line) { live_.take(line); }

  // Lines of several threads may stand in another order than their times.
  void pass(std::uint64_t ns) {
    const std::uint64_t until = std::max(ns, since_);
    watcher_.stretch(since_, until, live_);
    since_ = until;
  }

  Watcher& watcher_;
  LiveTable live_;
  std::uint64_t since_ = 0;
};

struct CurveWatcher {
  HeldOverTime held;
  std::map<DeviceOrdinal, std::vector<HeldPoint>> from_checkpoints;

  void stretch(std::uint64_t since, std::uint64_t, const LiveTable& live) {
    std::optional<DeviceOrdinal> device;  // whose totals stand together
    std::int64_t bytes = 0;
    for (const auto& [key, of] : live.totals()) {
      if (!key.device || counts_of(key.kind) != Counts::device_memory) continue;
      if (device && device != key.device) note(*device, since, std::exchange(bytes, 0));
      device = key.device;
      bytes += of.live.bytes;
    }
    if (device) note(*device, since, bytes);
  }
  void context(DeviceOrdinal device) { held.devices[device].has_context = true; }
  void gap(std::uint64_t since, std::uint64_t until) {
    if (!held.unknown.empty() && held.unknown.back().second == for_ever)
      held.unknown.back().second = until;
    else
      held.unknown.emplace_back(since, until);
  }
  void checkpoint(const CheckpointRecord& line) {
    held.checkpoints.push_back(line.ns);
    for (const auto& each : line.snapshots) {
      if (each.device) from_checkpoints[*each.device].push_back({each.ns, each.bytes});
    }
  }

  bool has_enough() const { return false; }

  void finish() {
    for (const auto& [device, summits] : from_checkpoints) {
      for (const auto& summit : summits) add_summit(held.devices[device], summit);
    }
    for (auto& [_, device] : held.devices) {
      for (const auto& point : device.points) device.peak = std::max(device.peak, point.bytes);
    }
  }

 private:
  void note(DeviceOrdinal of, std::uint64_t since, std::int64_t sum) {
    const std::uint64_t bytes = sum > 0 ? static_cast<std::uint64_t>(sum) : 0;
    auto& points = held.devices[of].points;
    if (points.empty() || points.back().bytes != bytes) points.push_back({since, bytes});
  }

  // For one moment only: how long it lasted is not known.
  void add_summit(HeldOnDevice& device, const HeldPoint& summit) {
    const bool is_missing = std::any_of(held.unknown.begin(), held.unknown.end(), [&summit](const auto& span) {
      return span.first <= summit.ns && summit.ns < span.second;
    });
    const bool is_there = std::find(device.summits.begin(), device.summits.end(), summit.ns) != device.summits.end();
    if (!is_missing || is_there) return;
    const auto place = std::upper_bound(device.points.begin(), device.points.end(), summit.ns,
                                        [](std::uint64_t ns, const HeldPoint& point) { return ns < point.ns; });
    const std::uint64_t before = place == device.points.begin() ? 0 : std::prev(place)->bytes;
    if (summit.bytes <= before) return;
    device.points.insert(place, {summit, {summit.ns + 1, before}});
    device.summits.push_back(summit.ns);
  }
};

struct SitesWatcher {
  const Moments& moments;
  std::map<DeviceOrdinal, std::vector<HeldSite>> found;

  void stretch(std::uint64_t since, std::uint64_t until, const LiveTable& live) {
    for (const auto& [device, ns] : moments) {
      if (since <= ns && ns < until) found[device] = live.largest_on(device);
    }
  }
  bool has_enough() const { return found.size() == moments.size(); }
  void context(DeviceOrdinal) {}
  void gap(std::uint64_t, std::uint64_t) {}
  void checkpoint(const CheckpointRecord&) {}
};

}  // namespace

bool HeldOverTime::is_summit(DeviceOrdinal device, std::uint64_t ns) const {
  const auto found = devices.find(device);
  if (found == devices.end()) return false;
  const auto& summits = found->second.summits;
  return std::find(summits.begin(), summits.end(), ns) != summits.end();
}

std::optional<std::uint64_t> HeldOverTime::as_of(DeviceOrdinal device, std::uint64_t ns) const {
  if (is_summit(device, ns)) return std::nullopt;
  for (const auto& [since, until] : unknown) {
    if (ns < since || ns >= until) continue;
    std::uint64_t known = since;
    for (const auto checkpoint : checkpoints) {
      if (checkpoint <= ns) known = std::max(known, checkpoint);
    }
    return known;
  }
  return std::nullopt;
}

HeldOverTime read_held(const JournalFiles& files) {
  CurveWatcher watcher;
  Replay<CurveWatcher>(watcher).read(files);
  watcher.finish();
  return std::move(watcher.held);
}

std::map<DeviceOrdinal, std::vector<HeldSite>> read_sites_held(const JournalFiles& files, const Moments& moments) {
  SitesWatcher watcher{moments, {}};
  Replay<SitesWatcher>(watcher).read(files);
  return std::move(watcher.found);
}

}  // namespace gpumem
