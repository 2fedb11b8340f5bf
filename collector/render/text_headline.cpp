#include <algorithm>

#include "render/text_parts.hpp"
#include "render/units.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

constexpr std::size_t label_width = 15;

void add_fork_line(TextPage& page, const ProcessAnalysis& process) {
  const auto& origin = process.process.forked_from;
  if (!origin) return;
  page.fact("Forked from",
            "pid " + std::to_string(origin->pid) +
                (origin->initialized ? ", after that process had started CUDA" : ", which had not started CUDA"),
            label_width);
}

void add_first_failure(TextPage& page, const ProcessView& view) {
  const auto& failures = view.process.failures;
  if (failures.empty()) {
    page.fact("Failures", "none", label_width);
    return;
  }
  const ExplainedFailure& first = failures.front();
  const std::string label = first.group.first.start ? "CUDA start" : "First failure";
  page.fact(label, failure_text(view, first.group) + ". " + printable(first.why.verdict), label_width);
  if (view.process.failed_calls > first.group.count) {
    page.fact("", count_of(view.process.failed_calls - first.group.count, "other call") + " failed.", label_width);
  }
}

void add_in_flight(TextPage& page, const ProcessView& view) {
  for (const auto& begin : view.process.in_flight) {
    page.fact("Not returned",
              printable(begin.api) + " was entered " + in_flight_since(view.process, begin) + ", by " +
                  view.names.of(begin.stack).label + " (thread " + std::to_string(begin.tid) + "), and never returned.",
              label_width);
  }
}

void add_peak_lines(TextPage& page, const ProcessView& view) {
  for (const auto& peak : view.process.peaks) {
    if (peak.moment.bytes == 0) continue;
    std::string text =
        bytes_text(peak.moment.bytes) + " of " + kind_text(peak.total.kind) + " at " + duration_text(peak.moment.ns);
    if (!peak.by_stack.empty()) {
      const Share& largest = peak.by_stack.front();
      text +=
          ", " + percent_text(largest.amount.bytes, peak.moment.bytes) + " from " + view.names.of(largest.key).label;
    }
    page.fact(peak.total.device ? "Peak on GPU " + std::to_string(*peak.total.device) : "Peak in RAM", text,
              label_width);
  }
  if (view.process.peaks.empty()) page.fact("Peak", "no memory was allocated", label_width);
}

// The largest growing call site of a total; where none grows, the largest of all that is live.
const Leak* most_telling(const std::vector<Leak>& leaks, const TotalKey& total) {
  const Leak* found = nullptr;
  for (const auto& each : leaks) {
    if (each.site.total != total || each.what > LeakClass::free_failed) continue;
    if (each.what == LeakClass::growing) return &each;
    if (!found || each.amount.bytes > found->amount.bytes) found = &each;
  }
  return found;
}

void add_live_lines(TextPage& page, const ProcessView& view) {
  const bool ended = view.process.end.how != Ending::running;
  std::string label = ended ? "Live at the end" : "Live now";
  const auto live = live_totals(view.process);
  if (live.empty()) page.fact(label, "nothing", label_width);
  for (const auto& [key, amount] : live) {
    std::string text = blocks_and_bytes(amount) + " of " + total_text(key);
    const Leak* largest = most_telling(view.process.leaks, key);
    if (largest) {
      text += (largest->what == LeakClass::growing ? ", growing at " : ", most at ") +
              view.names.of(largest->site.stack).label;
    }
    page.fact(label, text, label_width);
    label.clear();
  }
}

}  // namespace

void add_title(TextPage& page, const ProcessView& view) {
  page.lead(process_text(view.process) + " " + end_text(view.process) + ".");
}

void add_headline(TextPage& page, const ProcessView& view) {
  add_title(page, view);
  add_fork_line(page, view.process);
  add_first_failure(page, view);
  add_in_flight(page, view);
  add_peak_lines(page, view);
  add_live_lines(page, view);
}

}  // namespace gpumem
