#include "render/json_parts.hpp"
#include "render/json_reports.hpp"
#include "render/live_sites.hpp"
#include "render/site_groups.hpp"
#include "render/text_parts.hpp"
#include "render/units.hpp"

namespace gpumem {
namespace {

constexpr std::size_t label_width = 15;
constexpr std::size_t most_sites = 20;  // of a total

std::uint64_t positive(std::int64_t value) { return value > 0 ? static_cast<std::uint64_t>(value) : 0; }

std::uint64_t moment_of(const ProcessAnalysis& process) {
  return process.live_as_of.value_or(process.end.now_ns.value_or(process.last_ns));
}

void add_sites(TextPage& page, const ProcessView& view, const LiveOfTotal& of) {
  page.heading(amount_text(of.total.kind, of.all) + on_device(of.total));
  const auto sites = merge_sites(of.by_stack, view.names);
  std::vector<std::uint64_t> stacks;
  for (const auto& each : sites) stacks.push_back(each.key);
  const auto labels = distinct_labels(stacks, view.names);
  TableRows rows;
  Usage rest;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const Usage& amount = sites[i].amount;
    if (i >= most_sites) {
      rest += amount;
      continue;
    }
    rows.push_back({bytes_text(positive(amount.bytes)), percent_text(amount.bytes, positive(of.all.bytes)),
                    grouped(positive(amount.blocks)), labels[i]});
  }
  if (rest.blocks > 0) {
    rows.push_back({bytes_text(positive(rest.bytes)), percent_text(rest.bytes, positive(of.all.bytes)),
                    grouped(positive(rest.blocks)), "(" + count_of(sites.size() - most_sites, "more") + ")"});
  }
  page.table({{"bytes", Align::right}, {"share", Align::right}, {"blocks", Align::right}, {"call site"}}, rows);
}

}  // namespace

void add_snapshot(TextPage& page, const ProcessView& view) {
  const auto& process = view.process;
  add_title(page, view);
  page.fact("State of", duration_text(moment_of(process)), label_width);
  for (const auto& gap : process.gaps) page.fact("Incomplete", gap_text(process, gap), label_width);
  if (process.live_as_of) page.fact("Not newer", live_as_of_text(process), label_width);
  if (!process.marks.empty()) {
    const Mark& mark = process.marks.back().mark;
    page.fact("Latest mark", printable(mark.text) + ", at " + duration_text(mark.ns), label_width);
  }
  const auto live = live_by_site(process);
  Sums others;
  for (const auto& of : live) {
    if (has_own_lines(of.total.kind)) {
      add_sites(page, view, of);
    } else {
      add_to(others, of.total.kind, of.all);
    }
  }
  if (live.empty()) page.fact("Live", "nothing", label_width);
  if (const auto text = sums_text(others); !text.empty()) {
    page.blank_line();
    page.paragraph("Besides: " + text + ".");
  }
}

ordered_json json_snapshot(const ProcessView& view) {
  ordered_json object = process_object(view);
  object["ns"] = moment_of(view.process);
  object["live"] = ordered_json::array();
  for (const auto& of : live_by_site(view.process)) {
    ordered_json total = total_object(of.total);
    put_usage(total, of.all);
    total["by_site"] = ordered_json::array();
    for (const auto& each : of.by_stack) {
      ordered_json part = ordered_json::object();
      put_usage(part, each.amount);
      part["site"] = site_object(view, each.key);
      total["by_site"].push_back(std::move(part));
    }
    object["live"].push_back(std::move(total));
  }
  return object;
}

}  // namespace gpumem
