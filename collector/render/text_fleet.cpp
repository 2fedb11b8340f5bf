#include <algorithm>

#include "render/fleet.hpp"
#include "render/site_groups.hpp"
#include "render/text_parts.hpp"
#include "render/units.hpp"

namespace gpumem {
namespace {

constexpr std::size_t most_fleets = 3;
constexpr std::size_t most_sites = 3;  // of a share

std::string device_number(std::size_t index) { return "device " + std::to_string(index + 1); }

// "2, 5 to 7"
std::string ranges_text(const std::vector<std::uint64_t>& sorted) {
  std::string text;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t last = i;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(sorted[i]);
    if (last > i) text += (last == i + 1 ? ", " : " to ") + std::to_string(sorted[last]);
    i = last + 1;
  }
  return text;
}

std::string devices_of(const Fleet& fleet, std::size_t process) {
  std::string text;
  for (std::size_t i = 0; i < fleet.devices.size(); ++i) {
    const auto user = fleet.devices[i].users.find(process);
    if (user == fleet.devices[i].users.end()) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(i + 1) + " (its GPU " + std::to_string(user->second) + ")";
  }
  return text.empty() ? "-" : text;
}

void add_processes(TextPage& page, const Fleet& fleet) {
  TableRows rows;
  for (std::size_t i = 0; i < fleet.processes.size(); ++i) {
    const auto& each = fleet.processes[i];
    const auto& process = *each.process;
    rows.push_back({each.rank ? std::to_string(*each.rank) + (each.is_child ? " (child)" : "") : "-",
                    std::to_string(process.process.pid), printable(process.process.host), devices_of(fleet, i),
                    bytes_text(each.largest_peak), end_text(process)});
  }
  page.table({{"rank", Align::right},
              {"pid", Align::right},
              {"host"},
              {"devices"},
              {"largest peak", Align::right},
              {"how it ended"}},
             rows);
}

std::string doubt_text(const FleetShare& share) {
  if (!share.as_of_ns) return "";
  const std::string when = "; as of " + duration_text(*share.as_of_ns) + " of its own time, ";
  return when + (share.may_have_ended ? "its last record: it may have ended since" : "events after it are missing");
}

void add_device(TextPage& page, const Fleet& fleet, std::size_t index, Symbolizer& symbols, const FrameRules& rules) {
  const FleetDevice& device = fleet.devices[index];
  std::string name;
  for (const auto& detail : {device.identity.name, device.identity.pci, device.identity.uuid}) {
    if (detail) name += (name.empty() ? "" : ", ") + printable(*detail);
  }
  std::string hosts;
  for (const auto& host : device.hosts) hosts += (hosts.empty() ? "" : " and ") + printable(host);
  std::string text = "Device " + std::to_string(index + 1) + (name.empty() ? "" : " (" + name + ")") + " of " + hosts +
                     ", used by " + count_of(device.users.size(), "process") + ": ";
  if (device.peak == 0) {
    page.paragraph(text + "no memory of any of their calls.", 2);
    return;
  }
  page.paragraph(text + "peak of all together " + bytes_text(device.peak) + " of device memory at " +
                     clock_text(device.peak_wall_ns) + ".",
                 2);
  TableRows rows;
  for (const auto& share : device.shares) {
    const auto& process = fleet.processes[share.process];
    rows.push_back({bytes_text(share.bytes), percent_text(static_cast<std::int64_t>(share.bytes), device.peak),
                    fleet_process_text(process) + doubt_text(share)});
    CallNames names(*process.process, symbols, rules);
    std::vector<Share> by_stack;
    for (const auto& site : share.sites) by_stack.push_back({site.key.stack, site.amount});
    const auto merged = merge_sites(by_stack, names);
    for (std::size_t i = 0; i < std::min(most_sites, merged.size()); ++i) {
      rows.push_back({"", "",
                      "  " + bytes_text(static_cast<std::uint64_t>(merged[i].amount.bytes)) + "  " +
                          names.of(merged[i].key).label});
    }
  }
  page.table({{"bytes", Align::right}, {"share", Align::right}, {"process, and its call sites"}}, rows, 4);
}

void add_ranks(TextPage& page, const Fleet& fleet) {
  if (!fleet.missing_ranks.empty()) {
    const std::string of = fleet.world_size ? " of " + std::to_string(*fleet.world_size) + " (WORLD_SIZE)" : "";
    page.item("No journal of " + std::string(fleet.missing_ranks.size() == 1 ? "rank " : "ranks ") +
                  ranges_text(fleet.missing_ranks) + of +
                  ": made no CUDA call, ran without the shim, or has its journal elsewhere.",
              2);
  }
  if (fleet.peak_of_rank.size() == 2) {
    const auto &first = *fleet.peak_of_rank.begin(), &second = *fleet.peak_of_rank.rbegin();
    page.item("Largest peak of rank " + std::to_string(first.first) + ": " + bytes_text(first.second) + "; of rank " +
                  std::to_string(second.first) + ": " + bytes_text(second.second) + ".",
              2);
  }
  for (const auto& each : fleet.stragglers) {
    page.item("Rank " + std::to_string(each.rank) + " needs more than its peers: its peak is " + bytes_text(each.peak) +
                  ", the median of " + std::to_string(fleet.peak_of_rank.size()) + " ranks is " +
                  bytes_text(fleet.median_peak) + ".",
              2);
  }
}

void add_ends(TextPage& page, const Fleet& fleet) {
  for (const auto& each : fleet.processes) {
    const Survivors survivors = survivors_of(fleet, each);
    if (survivors.processes == 0) continue;
    page.item(fleet_process_text(each) + " " + end_text(*each.process) + "; " +
                  count_of(survivors.processes, "other process") + " went on, for " + duration_text(survivors.ns) +
                  " at the longest.",
              2);
  }
}

void add_strays(TextPage& page, const Fleet& fleet) {
  for (std::size_t i = 0; i < fleet.devices.size(); ++i) {
    for (const auto& stray : fleet.devices[i].strays) {
      const std::string cost =
          stray.costs
              ? "the context took " + bytes_text(static_cast<std::uint64_t>(std::max<std::int64_t>(0, *stray.costs))) +
                    " by the driver's figures"
              : "what the context takes was not measured";
      page.item(fleet_process_text(fleet.processes[stray.process]) + " has a context on " + device_number(i) +
                    " (its GPU " + std::to_string(stray.device) + ") and at most " + bytes_text(stray.peak) +
                    " of memory there; " + cost + ". It works on another device.",
                2);
    }
  }
}

void add_fleet(TextPage& page, const Fleet& fleet, Symbolizer& symbols, const FrameRules& rules) {
  page.blank_line();
  page.lead(count_of(fleet.processes.size(), "process") + " on " + count_of(fleet.devices.size(), "device") +
            ", at the same time");
  add_processes(page, fleet);
  add_ranks(page, fleet);
  add_ends(page, fleet);
  add_strays(page, fleet);
  for (std::size_t i = 0; i < fleet.devices.size(); ++i) add_device(page, fleet, i, symbols, rules);
  if (fleet.hosts.size() > 1) {
    page.paragraph("Dates are each host's own: where the clocks of the " + std::to_string(fleet.hosts.size()) +
                       " hosts differ, so do what is called the same time and who ended first.",
                   2);
  }
  page.blank_line();
}

}  // namespace

std::string fleet_process_text(const FleetProcess& process) {
  return (process.rank ? "rank " + std::to_string(*process.rank) + ", " : "") + process_text(*process.process);
}

void add_fleets(TextPage& page, const std::vector<Fleet>& fleets, Symbolizer& symbols, const FrameRules& rules) {
  for (std::size_t i = 0; i < std::min(most_fleets, fleets.size()); ++i) add_fleet(page, fleets[i], symbols, rules);
  if (fleets.size() > most_fleets) {
    page.paragraph(std::to_string(fleets.size() - most_fleets) +
                   " older groups of processes are in --format json alone.");
    page.blank_line();
  }
}

}  // namespace gpumem
