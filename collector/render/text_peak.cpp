#include <algorithm>

#include "render/library_shares.hpp"
#include "render/site_groups.hpp"
#include "render/text_parts.hpp"
#include "render/units.hpp"

namespace gpumem {
namespace {

constexpr std::size_t most_rows = 10;

std::uint64_t positive(std::int64_t value) { return value > 0 ? static_cast<std::uint64_t>(value) : 0; }

template <class Shares, class Name>
void add_shares(TextPage& page, const char* title, const Shares& shares, std::uint64_t whole, Name name) {
  TableRows rows;
  Usage rest;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Usage& amount = shares[i].amount;
    if (i >= most_rows) {
      rest += amount;
      continue;
    }
    rows.push_back({bytes_text(positive(amount.bytes)), percent_text(amount.bytes, whole),
                    grouped(positive(amount.blocks)), name(shares[i])});
  }
  if (rest.blocks > 0) {
    rows.push_back({bytes_text(positive(rest.bytes)), percent_text(rest.bytes, whole), grouped(positive(rest.blocks)),
                    "(" + count_of(shares.size() - most_rows, "more") + ")"});
  }
  page.table({{"bytes", Align::right}, {"share", Align::right}, {"blocks", Align::right}, {title}}, rows);
}

void add_beside(TextPage& page, const PeakBreakdown& peak) {
  std::string text;
  auto device_bytes = static_cast<std::int64_t>(peak.moment.bytes);
  for (const auto& [total, amount] : peak.moment.beside) {
    text += (text.empty() ? "" : "; ") + amount_text(total.kind, amount) + on_device(total);
    if (counts_of(total.kind) == Counts::device_memory) device_bytes += amount.bytes;
  }
  if (text.empty()) return;
  page.paragraph("Live beside it at that moment: " + text + ".", 2);
  if (counts_of(peak.total.kind) != Counts::device_memory || positive(device_bytes) == peak.moment.bytes) return;
  page.paragraph("All device memory of this process at that moment: " + bytes_text(positive(device_bytes)) + ".", 2);
}

// Of a peak whose events are not there.
std::string unplaced_text(const PeakBreakdown& peak) {
  const std::string text = "The process's own counter says so; the events of that moment are not in the journal.";
  if (!peak.snapshot) return text + " How it was made up is not known.";
  return text + " The table is what the call sites held at " + duration_text(peak.snapshot->ns) + ", when all " +
         (peak.total.device ? "device" : "host") + " memory of this process together was " +
         bytes_text(peak.snapshot->bytes) + ", at least 99 % of its own peak.";
}

void add_peak(TextPage& page, const ProcessView& view, const PeakBreakdown& peak) {
  if (peak.reported) {
    page.heading("Peak of " + total_text(peak.total) + ": " + exact_bytes(*peak.reported));
    page.paragraph("The process's own counter says so at its end. The recorded lines are incomplete: they show " +
                       exact_bytes(peak.moment.bytes) + " at " + duration_text(peak.moment.ns) +
                       ", and the tables below split that.",
                   2);
  } else {
    page.heading("Peak of " + total_text(peak.total) + ": " + exact_bytes(peak.bytes()) +
                 (peak.moment.is_placed ? " at " : ", reached by ") + duration_text(peak.moment.ns));
    if (!peak.moment.is_placed) page.paragraph(unplaced_text(peak), 2);
    if (view.process.misses_blocks()) {
      page.paragraph("At least: blocks that did not fit into the shim's tables are not in it.", 2);
    }
  }
  if (peak.by_stack.empty()) return;
  const std::uint64_t whole = peak.snapshot ? peak.snapshot->bytes : peak.moment.bytes;
  if (peak.moment.is_placed && peak.moment.replayed != whole) {
    page.paragraph("The process's own counter says so; adding up the lines gives " + exact_bytes(peak.moment.replayed) +
                       " at that line, and the table below adds up to that.",
                   2);
  }
  const auto libraries = shares_by_library(peak, view.names);
  const auto sites = merge_sites(peak.by_stack, view.names);
  std::vector<std::uint64_t> stacks;
  for (const auto& each : sites) stacks.push_back(each.key);
  const auto labels = distinct_labels(stacks, view.names);
  std::size_t row = 0;
  add_shares(page, "call site", sites, whole, [&](const Share& each) {
    return labels[row++] + (libraries.size() > 1 ? "  [" + view.names.of(each.key).library + "]" : "");
  });
  if (libraries.size() > 1) {
    page.blank_line();
    add_shares(page, "library", libraries, whole, [](const LibraryShare& each) { return each.library; });
  }
  if (peak.by_thread.size() > 1) {
    page.blank_line();
    add_shares(page, "thread", peak.by_thread, whole, [](const Share& each) { return std::to_string(each.key); });
  }
  add_beside(page, peak);
}

// What counts no memory has no split here: `leaks` tells by whom it is held.
void add_other_peaks(TextPage& page, const ProcessView& view) {
  TableRows rows;
  for (const auto& peak : view.process.peaks) {
    if (peak.bytes() == 0 || has_own_lines(peak.total.kind)) continue;
    const std::string& kind = peak.total.kind;
    const std::string text = is_object(kind) ? "" : " of " + kind_text(kind);
    rows.push_back({duration_text(peak.moment.ns), quantity_text(kind, peak.bytes()) + text + on_device(peak.total)});
  }
  if (rows.empty()) return;
  page.heading("Highest of what is no memory of this process");
  page.table({{"at", Align::right}, {"amount"}}, rows);
}

}  // namespace

void add_peaks(TextPage& page, const ProcessView& view) {
  bool has_any = false;
  for (const auto& peak : view.process.peaks) {
    if (peak.bytes() == 0 || !has_own_lines(peak.total.kind)) continue;
    has_any = true;
    add_peak(page, view, peak);
    if (!view.full_stacks) continue;
    const auto sites = merge_sites(peak.by_stack, view.names);
    for (std::size_t i = 0; i < std::min(most_rows, sites.size()); ++i) {
      page.blank_line();
      page.line(view.names.of(sites[i].key).label, 2);
      add_stack(page, view, sites[i].key, 4);
    }
  }
  if (!has_any) page.paragraph("No memory was allocated.");
  add_driver_peaks(page, view);
  add_other_peaks(page, view);
}

}  // namespace gpumem
