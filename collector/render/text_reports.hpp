// The text reports, one function each: they add what they have to say about one process to a page.
//
// Every number comes from the analysis; nothing is computed here but shares and sums of what is shown.
#pragma once

#include <limits>
#include <map>

#include "analyze/analyze.hpp"
#include "diagnose/diagnosis.hpp"
#include "render/call_names.hpp"
#include "render/text_page.hpp"

namespace gpumem {

struct ProcessView {
  const ProcessAnalysis& process;
  const Troubles& troubles;  // of the process
  CallNames& names;
  bool full_stacks = false;
  // The lines of the journal behind the evidence, if they shall be named and shown; else null.
  const std::map<LineOfJournal, std::string>* lines = nullptr;
  std::string program = "gpumem";                                    // as the user typed it
  std::size_t most_items = std::numeric_limits<std::size_t>::max();  // failures, and call sites of a leak class
};

void add_report(TextPage& page, const ProcessView& view);
void add_leaks(TextPage& page, const ProcessView& view);
void add_peaks(TextPage& page, const ProcessView& view);
void add_failures(TextPage& page, const ProcessView& view);

// What is live, by device, kind and call site.
void add_snapshot(TextPage& page, const ProcessView& view);

// The few lines that come first: how the process ended, what failed first, the peaks, what is still live.
void add_headline(TextPage& page, const ProcessView& view);

// Only the first of them: which process, how it ended, and when it began.
void add_title(TextPage& page, const ProcessView& view);

// Memory of the devices that no recorded call explains, over time.
void add_unexplained(TextPage& page, const ProcessView& view);

// Beside the peaks: the driver's highest figure of each device.
void add_driver_peaks(TextPage& page, const ProcessView& view);

// What pools hold, and what of it nobody uses.
void add_reservations(TextPage& page, const ProcessView& view);

// What the journal could not tell: torn lines, lost records, names that are missing.
void add_notes(TextPage& page, const ProcessView& view);

}  // namespace gpumem
