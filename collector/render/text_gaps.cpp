// What the reports say of a journal that is not all there.
#include "render/text_parts.hpp"
#include "render/units.hpp"

namespace gpumem {

std::string gap_text(const ProcessAnalysis& process, const MissingEvents& gap) {
  const std::uint64_t last = gap.first_segment + gap.segments - 1;
  const std::string which =
      gap.segments == 1
          ? "segment " + std::to_string(gap.first_segment) + " of " + std::to_string(process.segments) + " was dropped"
          : "segments " + std::to_string(gap.first_segment) + " to " + std::to_string(last) + " of " +
                std::to_string(process.segments) + " were dropped";
  std::string text = which + " (GPUMEM_JOURNAL_MAX): the events between " + duration_text(gap.since_ns) + " and " +
                     duration_text(gap.until_ns) + " are missing";
  if (!gap.is_bridged) return text + ", and what was live after them is not known.";
  text += ", " + count_of(gap.events, "event") + " and " + count_of(gap.failures, "failed call") + ".";
  return text + (process.live_as_of ? " Totals and peaks are exact."
                                    : " What is live, the totals and the peaks are exact all the same.");
}

std::string live_as_of_text(const ProcessAnalysis& process) {
  const std::string why = process.process.events ? "more blocks were live than a checkpoint has room for"
                                                 : "GPUMEM_EVENTS=0 records no single allocation";
  return why + ": what each call site holds is that of the newest checkpoint, at " +
         duration_text(*process.live_as_of) + ".";
}

}  // namespace gpumem
