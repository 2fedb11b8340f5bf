#include <algorithm>

#include "render/library_shares.hpp"
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

void add_peak(TextPage& page, const ProcessView& view, const PeakBreakdown& peak) {
  const std::uint64_t whole = peak.moment.bytes;
  page.heading("Peak of " + total_text(peak.total) + ": " + exact_bytes(whole) + " at " +
               duration_text(peak.moment.ns));
  if (peak.moment.replayed != whole) {
    page.paragraph("The process's own counter says so; adding up the lines gives " + exact_bytes(peak.moment.replayed) +
                       " at that line, and the table below adds up to that.",
                   2);
  }
  const auto libraries = shares_by_library(peak, view.names);
  add_shares(page, "call site", peak.by_stack, whole, [&](const Share& each) {
    const CallName& name = view.names.of(each.key);
    return name.label + (libraries.size() > 1 ? "  [" + name.library + "]" : "");
  });
  if (libraries.size() > 1) {
    page.blank_line();
    add_shares(page, "library", libraries, whole, [](const LibraryShare& each) { return each.library; });
  }
  if (peak.by_thread.size() > 1) {
    page.blank_line();
    add_shares(page, "thread", peak.by_thread, whole, [](const Share& each) { return std::to_string(each.key); });
  }
  for (const auto& [total, amount] : peak.moment.beside) {
    page.paragraph("Live beside it at that moment: " + blocks_and_bytes(amount) + " of " + total_text(total) + ".", 2);
  }
}

}  // namespace

void add_peaks(TextPage& page, const ProcessView& view) {
  bool has_any = false;
  for (const auto& peak : view.process.peaks) {
    if (peak.moment.bytes == 0) continue;
    has_any = true;
    add_peak(page, view, peak);
    if (!view.full_stacks) continue;
    for (std::size_t i = 0; i < std::min(most_rows, peak.by_stack.size()); ++i) {
      page.blank_line();
      page.line(view.names.of(peak.by_stack[i].key).label, 2);
      add_stack(page, view, peak.by_stack[i].key, 4);
    }
  }
  if (!has_any) page.paragraph("No memory was allocated.");
}

}  // namespace gpumem
