#include "analyze/fleet.hpp"

#include <algorithm>
#include <tuple>

#include "analyze/fleet_ranks.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

// Less than this is hardly any memory; with this much elsewhere a process works there.
constexpr std::uint64_t hardly_any = 16ull << 20;
constexpr std::uint64_t works_there = 64ull << 20;

std::uint64_t end_ns(const ProcessAnalysis& process) {
  const auto& end = process.end;
  return std::max(process.last_ns, end.how == Ending::running ? end.now_ns.value_or(0) : end.ns.value_or(0));
}

bool ended_badly(const ProcessEnd& end) {
  return end.how == Ending::killed || end.how == Ending::vanished || end.exit_status.value_or(0) != 0;
}

FleetProcess fleet_process(const ProcessAnalysis& process) {
  FleetProcess result;
  result.process = &process;
  result.ended_badly = ended_badly(process.end);
  const bool ended_unseen = process.end.how == Ending::vanished || process.end.how == Ending::unknown;
  result.end_is_known = !ended_unseen || process.end.ns.has_value();
  result.began = process.process.wall_ns;
  result.last_seen = result.began + end_ns(process);
  return result;
}

// A device without a UUID is told by its place in its machine, or else belongs to its process alone.
std::string identity_of(const ProcessAnalysis& process, DeviceOrdinal device) {
  const auto found = process.devices.find(device);
  if (found != process.devices.end() && found->second.uuid) return *found->second.uuid;
  if (found != process.devices.end() && found->second.pci) return process.process.host + " " + *found->second.pci;
  return process.journal + " " + std::to_string(device);
}

// What one process held changed at a moment of the wall clock.
struct Change {
  std::uint64_t wall_ns = 0;
  std::size_t process = 0;
  std::uint64_t bytes = 0;  // from now on
};

std::vector<Change> changes_of(const Fleet& fleet, const FleetDevice& device) {
  std::vector<Change> all;
  for (const auto& [index, ordinal] : device.users) {
    const auto& process = fleet.processes[index];
    for (const auto& point : process.held.devices.at(ordinal).points)
      all.push_back({process.began + point.ns, index, point.bytes});
    if (process.end_is_known && process.process->end.how != Ending::running)
      all.push_back({process.last_seen, index, 0});
  }
  std::stable_sort(all.begin(), all.end(), [](const Change& a, const Change& b) { return a.wall_ns < b.wall_ns; });
  return all;
}

FleetShare share_of(const Fleet& fleet, const FleetDevice& device, std::size_t index, std::uint64_t bytes) {
  const auto& process = fleet.processes[index];
  const DeviceOrdinal ordinal = device.users.at(index);
  FleetShare share;
  share.process = index;
  share.device = ordinal;
  share.bytes = bytes;
  const std::uint64_t ns = device.peak_wall_ns - process.began;
  share.as_of_ns = process.held.as_of(ordinal, ns);
  share.may_have_ended = !process.end_is_known && device.peak_wall_ns > process.last_seen;
  if (share.may_have_ended && !share.as_of_ns) share.as_of_ns = process.process->last_ns;
  return share;
}

void find_peak(const Fleet& fleet, FleetDevice& device) {
  const auto changes = changes_of(fleet, device);
  std::map<std::size_t, std::uint64_t> now;
  std::uint64_t sum = 0;
  std::map<std::size_t, std::uint64_t> at_peak;
  std::size_t highest = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    auto& bytes = now[changes[i].process];
    sum = sum - bytes + changes[i].bytes;
    bytes = changes[i].bytes;
    if (sum <= device.peak) continue;
    device.peak = sum;
    device.peak_wall_ns = changes[i].wall_ns;
    highest = i;
  }
  if (device.peak == 0) return;
  for (std::size_t i = 0; i <= highest; ++i) at_peak[changes[i].process] = changes[i].bytes;
  for (const auto& [index, bytes] : at_peak) {
    if (bytes > 0) device.shares.push_back(share_of(fleet, device, index, bytes));
  }
  std::stable_sort(device.shares.begin(), device.shares.end(),
                   [](const FleetShare& a, const FleetShare& b) { return a.bytes > b.bytes; });
}

// Each journal is read once, for all its devices.
void find_sites(Fleet& fleet, const std::map<const ProcessAnalysis*, const JournalFiles*>& files) {
  for (std::size_t index = 0; index < fleet.processes.size(); ++index) {
    const auto& process = fleet.processes[index];
    Moments moments;
    std::map<DeviceOrdinal, FleetShare*> shares;
    for (auto& device : fleet.devices) {
      for (auto& share : device.shares) {
        const std::uint64_t ns = device.peak_wall_ns - process.began;
        if (share.process != index || process.held.is_summit(share.device, ns)) continue;
        moments[share.device] = ns;
        shares[share.device] = &share;
      }
    }
    if (moments.empty()) continue;
    for (auto& [device, sites] : read_sites_held(*files.at(process.process), moments))
      shares.at(device)->sites = std::move(sites);
  }
}

std::optional<std::int64_t> cost_of_context(const ProcessAnalysis& process, DeviceOrdinal device) {
  const auto figures = process.figures.find(device);
  if (figures == process.figures.end()) return std::nullopt;
  for (const auto& rise : figures->second.rises) {
    if (rise.cause && rise.cause->op == schema::op::context) return rise.bytes;
  }
  return std::nullopt;
}

void find_strays(const Fleet& fleet, FleetDevice& device) {
  for (const auto& [index, ordinal] : device.users) {
    const auto& process = fleet.processes[index];
    const auto& held = process.held.devices.at(ordinal);
    if (!held.has_context || held.peak >= hardly_any || process.largest_peak < works_there) continue;
    device.strays.push_back({index, ordinal, held.peak, cost_of_context(*process.process, ordinal)});
  }
}

void find_devices(Fleet& fleet) {
  std::map<std::string, FleetDevice> devices;
  for (std::size_t index = 0; index < fleet.processes.size(); ++index) {
    const auto& process = *fleet.processes[index].process;
    for (const auto& [ordinal, held] : fleet.processes[index].held.devices) {
      if (!held.has_context && held.peak == 0) continue;
      FleetDevice& device = devices[identity_of(process, ordinal)];
      const auto identity = process.devices.find(ordinal);
      if (identity != process.devices.end()) device.identity = identity->second;
      device.hosts.insert(process.process.host);
      device.users.emplace(index, ordinal);
    }
  }
  for (auto& [_, device] : devices) {
    find_peak(fleet, device);
    find_strays(fleet, device);
    fleet.devices.push_back(std::move(device));
  }
  std::stable_sort(fleet.devices.begin(), fleet.devices.end(), [](const FleetDevice& a, const FleetDevice& b) {
    return std::tie(a.hosts, a.identity.pci) < std::tie(b.hosts, b.identity.pci);
  });
}

// Those that overlap, or are linked by others that do.
std::vector<std::vector<FleetProcess>> overlapping(std::vector<FleetProcess> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const FleetProcess& a, const FleetProcess& b) { return a.began < b.began; });
  std::vector<std::vector<FleetProcess>> groups;
  std::uint64_t until = 0;
  for (auto& each : all) {
    if (groups.empty() || each.began > until) groups.emplace_back();
    until = std::max(until, each.last_seen);
    groups.back().push_back(std::move(each));
  }
  return groups;
}

bool has_device(const FleetProcess& process) {
  return std::any_of(process.held.devices.begin(), process.held.devices.end(),
                     [](const auto& entry) { return entry.second.has_context || entry.second.peak > 0; });
}

}  // namespace

std::vector<Fleet> find_fleets(const std::vector<FleetSource>& all) {
  std::map<const ProcessAnalysis*, const JournalFiles*> files;
  std::vector<FleetProcess> processes;
  for (const auto& source : all) {
    files[source.process] = &source.files;
    processes.push_back(fleet_process(*source.process));
  }
  std::vector<Fleet> fleets;
  for (auto& group : overlapping(std::move(processes))) {
    if (group.size() < 2) continue;
    Fleet fleet;
    fleet.processes = std::move(group);
    find_ranks(fleet);
    for (auto& each : fleet.processes) {
      each.held = read_held(*files.at(each.process));
      for (const auto& [_, held] : each.held.devices) each.largest_peak = std::max(each.largest_peak, held.peak);
      fleet.hosts.insert(each.process->process.host);
    }
    const auto with_device = std::count_if(fleet.processes.begin(), fleet.processes.end(), has_device);
    if (with_device < 2 && fleet.rank_variable.empty()) continue;
    find_devices(fleet);
    compare_ranks(fleet);
    find_sites(fleet, files);
    // The points have served; a large folder has many of them.
    for (auto& each : fleet.processes) {
      for (auto& [_, held] : each.held.devices) held.points = {};
    }
    fleets.insert(fleets.begin(), std::move(fleet));
  }
  return fleets;
}

}  // namespace gpumem
