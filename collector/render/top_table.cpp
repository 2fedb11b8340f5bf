#include "render/top_table.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "render/json_parts.hpp"
#include "render/live_sites.hpp"
#include "render/site_groups.hpp"
#include "render/text_parts.hpp"
#include "render/units.hpp"

namespace gpumem {
namespace {

constexpr std::size_t most_sites = 3;  // of a row, in text
constexpr double ns_per_s = 1e9;

bool is_of(const TotalKey& total, DeviceOrdinal device) {
  return total.device == device && counts_of(total.kind) == Counts::device_memory;
}

std::uint64_t positive(std::int64_t value) { return value > 0 ? static_cast<std::uint64_t>(value) : 0; }

std::vector<TopSite> sites_on(DeviceOrdinal device, const std::vector<LiveOfTotal>& live, CallNames& names) {
  std::vector<Share> all;
  for (const auto& of : live) {
    if (is_of(of.total, device)) all.insert(all.end(), of.by_stack.begin(), of.by_stack.end());
  }
  std::vector<TopSite> sites;
  for (const auto& each : merge_sites(all, names)) sites.push_back({names.of(each.key).label, each.amount});
  return sites;
}

std::uint64_t failed_calls(const ProcessAnalysis& process) {
  std::uint64_t count = process.failed_calls;
  for (const auto& gap : process.gaps) count += gap.failures;
  return count;
}

std::string rate_text(const TopRow& row) {
  if (!row.allocations_per_s || !row.bytes_per_s) return "-";
  return grouped(static_cast<std::uint64_t>(std::llround(*row.allocations_per_s))) + "/s, " +
         bytes_text(static_cast<std::uint64_t>(*row.bytes_per_s)) + "/s";
}

std::string signed_bytes(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "") + bytes_text(static_cast<std::uint64_t>(std::abs(bytes)));
}

}  // namespace

std::vector<TopRow> TopProcess::look(const ProcessAnalysis& process, CallNames& names, std::uint64_t now_ns) {
  std::set<DeviceOrdinal> devices;
  for (const auto& [device, _] : process.devices) devices.insert(device);
  for (const auto& [key, _] : process.totals) {
    if (key.device) devices.insert(*key.device);
  }
  const auto live = live_by_site(process);
  std::vector<TopRow> rows;
  for (const auto device : devices) {
    TopRow row;
    row.pid = process.process.pid;
    row.process = process_text(process);
    row.journal = process.journal;
    if (process.end.how != Ending::running) row.end = end_text(process);
    row.device = device;
    for (const auto& of : live) {
      if (is_of(of.total, device)) row.used += positive(of.all.bytes);
    }
    for (const auto& each : process.peaks) {
      if (is_of(each.total, device)) row.peak = std::max(row.peak, each.bytes());
    }
    Usage allocated;
    for (const auto& [key, amount] : process.allocated) {
      if (is_of(key, device)) allocated += amount;
    }
    const auto before = before_.find(device);
    if (before != before_.end() && now_ns > before->second.ns) {
      const double seconds = static_cast<double>(now_ns - before->second.ns) / ns_per_s;
      row.allocations_per_s =
          static_cast<double>(positive(allocated.blocks - before->second.allocated.blocks)) / seconds;
      row.bytes_per_s = static_cast<double>(positive(allocated.bytes - before->second.allocated.bytes)) / seconds;
    }
    before_[device] = {now_ns, allocated};
    row.failed_calls = failed_calls(process);
    const auto figures = process.figures.find(device);
    if (figures != process.figures.end() && !figures->second.moments.empty())
      row.unexplained = figures->second.moments.back().unexplained();
    row.live_as_of = process.live_as_of;
    if (!process.marks.empty()) row.latest_mark = process.marks.back().mark.text;
    row.sites = sites_on(device, live, names);
    rows.push_back(std::move(row));
  }
  return rows;
}

void sort_rows(std::vector<TopRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const TopRow& a, const TopRow& b) {
    return std::tuple(!a.end.empty(), b.used, a.pid, a.device) < std::tuple(!b.end.empty(), a.used, b.pid, b.device);
  });
}

void add_top(TextPage& page, const std::vector<TopRow>& rows) {
  TableRows table;
  for (const auto& row : rows) {
    const std::string state = row.end.empty() ? "" : ", " + row.end;
    table.push_back({"GPU " + std::to_string(row.device), bytes_text(row.used), bytes_text(row.peak), rate_text(row),
                     grouped(row.failed_calls), row.unexplained ? signed_bytes(*row.unexplained) : "-",
                     row.process + state});
    if (!row.latest_mark.empty()) table.push_back({"", "", "", "", "", "", "  mark: " + printable(row.latest_mark)});
    if (row.live_as_of)
      table.push_back(
          {"", "", "", "", "", "", "  as of " + duration_text(*row.live_as_of) + ", the newest checkpoint"});
    for (std::size_t i = 0; i < std::min(most_sites, row.sites.size()); ++i) {
      const Usage& amount = row.sites[i].amount;
      table.push_back({"", bytes_text(positive(amount.bytes)), "", "", "", "", "  " + row.sites[i].label});
    }
  }
  page.table({{"device"},
              {"used", Align::right},
              {"peak", Align::right},
              {"allocated", Align::right},
              {"failed", Align::right},
              {"unexplained", Align::right},
              {"process, and call sites"}},
             table, 0);
  if (rows.empty()) page.paragraph("No process has used a device yet.");
}

ordered_json json_top(const std::vector<TopRow>& rows) {
  ordered_json list = ordered_json::array();
  for (const auto& row : rows) {
    ordered_json sites = ordered_json::array();
    for (const auto& each : row.sites) {
      sites.push_back({{"label", each.label}, {"blocks", each.amount.blocks}, {"bytes", each.amount.bytes}});
    }
    list.push_back({{"pid", row.pid},
                    {"process", row.process},
                    {"journal", row.journal},
                    {"end", or_null(row.end)},
                    {"device", row.device},
                    {"used_bytes", row.used},
                    {"peak_bytes", row.peak},
                    {"allocations_per_s", or_null(row.allocations_per_s)},
                    {"bytes_per_s", or_null(row.bytes_per_s)},
                    {"failed_calls", row.failed_calls},
                    {"unexplained_bytes", or_null(row.unexplained)},
                    {"live_as_of_ns", or_null(row.live_as_of)},
                    {"latest_mark", or_null(row.latest_mark)},
                    {"by_site", std::move(sites)}});
  }
  return {{"schema_version", top_schema_version}, {"rows", std::move(list)}};
}

}  // namespace gpumem
