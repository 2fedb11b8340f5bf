#include "render/site_groups.hpp"
#include "render/text_parts.hpp"
#include "render/units.hpp"

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

void add_start_line(TextPage& page, const ProcessAnalysis& process) {
  const std::string clock = clock_text(process.process.wall_ns);
  if (!clock.empty()) page.fact("First CUDA call", clock + "; the times below count from it", label_width);
}

void add_incomplete_lines(TextPage& page, const ProcessAnalysis& process) {
  const char* label = "Incomplete";
  for (const auto& gap : process.gaps) {
    page.fact(label, gap_text(process, gap), label_width);
    label = "";
  }
  if (process.live_as_of) {
    page.fact(label, live_as_of_text(process), label_width);
    label = "";
  }
  if (process.misses_lines()) {
    page.fact(label,
              count_of(process.counters->lost_lines, "line") +
                  " did not fit into the journal (GPUMEM_JOURNAL_MAX): what is live, the leaks and the split of peaks "
                  "are only what was recorded." +
                  (process.misses_blocks() ? "" : " The peaks themselves are exact."),
              label_width);
    label = "";
  }
  if (!process.misses_blocks()) return;
  const std::string blocks = untracked_text(process);
  page.fact(label,
            blocks +
                " did not fit into the shim's tables (GPUMEM_MEMORY_MAX) and are in no figure below: what is "
                "live, the leaks and the peaks are at least what is shown.",
            label_width);
}

std::string passed_by_text(const CoverageRecord& found) {
  const std::string library = printable(found.library.value_or("libcuda"));
  if (found.when == schema::when::init) {
    return "a cuInit of " + library +
           " did not pass through the shim, so the calls of whoever made it are missing here. Either the shim was not "
           "in LD_PRELOAD, or the caller was opened with RTLD_DEEPBIND or dlmopen, or another preloaded tool answers "
           "its look-ups.";
  }
  if (found.apart) {
    return library +
           " was loaded into a namespace of its own (dlmopen), where the loader does not ask a preloaded library: no "
           "call of that copy is in this journal.";
  }
  return library +
         " was loaded, but neither a call of CUDA nor a look-up of one was seen. Either the program made none, or the "
         "library that made them was opened with RTLD_DEEPBIND, so that the loader did not ask a preloaded library. "
         "CUDA_INJECTION64_PATH=\"$(gpumem path)\" tells which.";
}

void add_passed_by_lines(TextPage& page, const ProcessAnalysis& process) {
  std::string label = "Not seen";
  for (const auto& found : process.passed_by) {
    page.fact(label, passed_by_text(found), label_width);
    label.clear();
  }
}

void add_failure_lines(TextPage& page, const ProcessView& view) {
  std::uint64_t lasting = 0, recovered = 0, requests = 0;
  const ExplainedFailure* first = nullptr;
  for (const auto& each : view.troubles.failures) {
    if (each.group.end == Outcome::recovered) {
      recovered += each.group.count;
      ++requests;
      continue;
    }
    if (!first) first = &each;
    lasting += each.group.count;
  }
  if (first) {
    std::string text = failure_text(view, first->group) + ". " + printable(first->why.verdict);
    if (first->group.count > 1) text += " It failed " + count_of(first->group.count, "time") + ".";
    if (lasting > first->group.count) {
      text += " (and " + grouped(lasting - first->group.count) + " more, see " + view.program + " failures)";
    }
    page.fact(first->group.first.start ? "CUDA start" : "First failure", text, label_width);
  } else {
    page.fact("Failures",
              std::string(recovered > 0 ? "none that lasted" : "none") +
                  " among the recorded calls (start, contexts, allocations, frees)",
              label_width);
  }
  if (recovered > 0) {
    page.fact("Recovered",
              count_of(requests, "request") + " succeeded on a retry, after " + count_of(recovered, "failed call"),
              label_width);
  }
}

void add_in_flight(TextPage& page, const ProcessView& view) {
  for (const auto& begin : view.process.in_flight) {
    page.fact("Not returned", in_flight_text(view, begin), label_width);
  }
}

std::string peak_text(const ProcessView& view, const PeakBreakdown& peak) {
  const std::string text = bytes_text(peak.bytes()) + " of " + kind_text(peak.total.kind);
  if (peak.reported) {
    return text + ", as the process counted; the lines show " + bytes_text(peak.moment.bytes) + " at " +
           duration_text(peak.moment.ns);
  }
  const auto shares = merge_sites(peak.by_stack, view.names);
  if (!peak.moment.is_placed) {
    const std::string reached = text + ", reached by " + duration_text(peak.moment.ns);
    if (shares.empty() || !peak.snapshot) return reached;
    return reached + ", " + percent_text(shares.front().amount.bytes, peak.snapshot->bytes) + " from " +
           view.names.of(shares.front().key).label;
  }
  if (shares.empty()) return text + " at " + duration_text(peak.moment.ns);
  return text + " at " + duration_text(peak.moment.ns) + ", " +
         percent_text(shares.front().amount.bytes, peak.bytes()) + " from " + view.names.of(shares.front().key).label;
}

// The largest total of each device, and of the machine, in full; the others only by their size.
void add_peak_lines(TextPage& page, const ProcessView& view) {
  std::vector<std::pair<std::string, std::vector<std::string>>> places;
  for (const auto& peak : view.process.peaks) {
    if (peak.bytes() == 0 || !has_own_lines(peak.total.kind)) continue;
    const std::string place = peak.total.device ? "Peak on GPU " + std::to_string(*peak.total.device) : "Peak in RAM";
    if (places.empty() || places.back().first != place) places.push_back({place, {}});
    auto& texts = places.back().second;
    texts.push_back(texts.empty() ? peak_text(view, peak)
                                  : bytes_text(peak.bytes()) + " of " + kind_text(peak.total.kind));
  }
  for (const auto& [place, texts] : places) {
    page.fact(place, texts.front(), label_width);
    std::string others;
    for (std::size_t i = 1; i < texts.size(); ++i) others += (i > 1 ? ", " : "") + texts[i];
    if (!others.empty()) page.fact("", "and at other moments: " + others, label_width);
  }
  if (places.empty()) page.fact("Peak", "no memory was allocated", label_width);
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
  const auto& process = view.process;
  std::string label = process.end.how == Ending::running ? "Live now"
                      : process.end.cut                  ? "Live at the cut"
                                                         : "Live at the end";
  const std::string scope = process.misses_lines() ? ", as far as recorded" : "";
  const auto live = live_totals(process);
  if (live.empty()) page.fact(label, "nothing" + scope, label_width);
  const auto leaks = merge_sites(process.leaks, view.names);
  Sums others;
  for (const auto& [key, amount] : live) {
    if (!has_own_lines(key.kind)) {
      add_to(others, key.kind, amount);
      continue;
    }
    std::string text = (process.misses_blocks() && !process.misses_lines() ? "at least " : "") +
                       amount_text(key.kind, amount) + on_device(key) + scope;
    const Leak* largest = most_telling(leaks, key);
    if (largest) {
      text += (largest->what == LeakClass::growing ? ", growing at " : ", most at ") +
              view.names.of(largest->site.stack).label;
    }
    page.fact(label, text, label_width);
    label.clear();
  }
  if (const auto text = sums_text(others); !text.empty()) page.fact(label, text + scope, label_width);
  Sums dropped;
  for (const auto& drop : process.context_drops) {
    for (const auto& [counts, amount] : drop.dropped) dropped[counts] += amount;
  }
  if (const auto text = sums_text(dropped); !text.empty()) {
    page.fact("Dropped", text + ", ended with their context, not by a free", label_width);
  }
}

// The names that the lines above would have had.
void add_missing_names(TextPage& page, const ProcessView& view) {
  std::vector<std::uint64_t> stacks;
  for (const auto& each : view.troubles.failures) stacks.push_back(each.group.first.stack);
  for (const auto& peak : view.process.peaks) {
    if (!peak.by_stack.empty()) stacks.push_back(peak.by_stack.front().key);
  }
  for (const auto& each : view.process.leaks) stacks.push_back(each.site.stack);
  std::string label = "No names from";
  for (const auto& trouble : view.names.troubles(stacks)) {
    page.fact(label, printable(trouble), label_width);
    label.clear();
  }
}

}  // namespace

void add_title(TextPage& page, const ProcessView& view) {
  page.lead(process_text(view.process) + " " + end_text(view.process) + ".");
  add_start_line(page, view.process);
}

void add_headline(TextPage& page, const ProcessView& view) {
  add_title(page, view);
  add_fork_line(page, view.process);
  add_passed_by_lines(page, view.process);
  add_incomplete_lines(page, view.process);
  add_failure_lines(page, view);
  add_in_flight(page, view);
  add_peak_lines(page, view);
  add_live_lines(page, view);
  if (const auto text = host_memory_text(view.process); !text.empty()) page.fact("Host memory", text, label_width);
  add_missing_names(page, view);
}

}  // namespace gpumem
