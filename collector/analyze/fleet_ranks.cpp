#include "analyze/fleet_ranks.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace gpumem {
namespace {

// The first that any process has: a launcher's own variable before those of what launched it.
constexpr const char* rank_variables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
constexpr std::uint64_t most_ranks = 1 << 20;  // a larger number is none

constexpr std::uint64_t clearly_above = 64ull << 20;
constexpr std::size_t fewest_ranks_to_compare = 3;

std::optional<std::uint64_t> number_in(const ProcessRecord& process, const std::string& variable) {
  const auto found = process.env.find(variable);
  if (found == process.env.end()) return std::nullopt;
  const std::string& text = found->second;
  std::uint64_t value = 0;
  const auto [stop, trouble] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = !text.empty() && trouble == std::errc() && stop == text.data() + text.size();
  return is_number && value < most_ranks ? std::optional(value) : std::nullopt;
}

bool is_child_of(const FleetProcess& child, const FleetProcess& parent) {
  const auto& a = child.process->process;
  const auto& b = parent.process->process;
  return a.host == b.host && a.ppid == b.pid && child.rank == parent.rank && child.began >= parent.began;
}

}  // namespace

void find_ranks(Fleet& fleet) {
  for (const char* variable : rank_variables) {
    for (auto& each : fleet.processes) {
      each.rank = number_in(each.process->process, variable);
      if (each.rank) fleet.rank_variable = variable;
    }
    if (!fleet.rank_variable.empty()) break;
  }
  for (auto& each : fleet.processes) {
    if (!fleet.world_size) fleet.world_size = number_in(each.process->process, "WORLD_SIZE");
    each.is_child = each.process->process.forked_from.has_value() ||
                    std::any_of(fleet.processes.begin(), fleet.processes.end(), [&each](const FleetProcess& other) {
                      return &other != &each && is_child_of(each, other);
                    });
  }
  std::stable_sort(fleet.processes.begin(), fleet.processes.end(), [](const FleetProcess& a, const FleetProcess& b) {
    return std::tuple(!a.rank, a.rank, a.is_child, a.began) < std::tuple(!b.rank, b.rank, b.is_child, b.began);
  });
}

void compare_ranks(Fleet& fleet) {
  for (const auto& each : fleet.processes) {
    if (!each.rank) continue;
    auto& peak = fleet.peak_of_rank[*each.rank];
    peak = std::max(peak, each.largest_peak);
  }
  if (fleet.peak_of_rank.empty()) return;
  const std::uint64_t ranks = std::max(fleet.world_size.value_or(0), fleet.peak_of_rank.rbegin()->first + 1);
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    if (!fleet.peak_of_rank.contains(rank)) fleet.missing_ranks.push_back(rank);
  }
  std::vector<std::uint64_t> peaks;
  for (const auto& [_, peak] : fleet.peak_of_rank) peaks.push_back(peak);
  std::sort(peaks.begin(), peaks.end());
  const std::size_t middle = peaks.size() / 2;
  fleet.median_peak = peaks.size() % 2 == 1 ? peaks[middle] : (peaks[middle - 1] + peaks[middle]) / 2;
  if (peaks.size() < fewest_ranks_to_compare) return;
  for (const auto& [rank, peak] : fleet.peak_of_rank) {
    if (peak > fleet.median_peak + fleet.median_peak / 4 && peak > fleet.median_peak + clearly_above)
      fleet.stragglers.push_back({rank, peak});
  }
}

Survivors survivors_of(const Fleet& fleet, const FleetProcess& process) {
  Survivors survivors;
  if (!process.ended_badly || process.is_child) return survivors;
  for (const auto& other : fleet.processes) {
    if (other.is_child || other.last_seen <= process.last_seen) continue;
    ++survivors.processes;
    survivors.ns = std::max(survivors.ns, other.last_seen - process.last_seen);
  }
  return survivors;
}

}  // namespace gpumem
