// The text reports, one function each: they add what they have to say about one process to a page.
//
// Every number comes from the analysis; nothing is computed here but shares and sums of what is shown.
#pragma once

#include <limits>

#include "analyze/analyze.hpp"
#include "render/call_names.hpp"
#include "render/text_page.hpp"

namespace gpumem {

struct process_view {
  const process_analysis& process;
  call_names& names;
  bool full_stacks = false;
  std::size_t most_items = std::numeric_limits<std::size_t>::max();  // failures, and call sites of a leak class
};

void add_report(text_page& page, const process_view& view);
void add_leaks(text_page& page, const process_view& view);
void add_peaks(text_page& page, const process_view& view);
void add_failures(text_page& page, const process_view& view);

// The few lines that come first: how the process ended, what failed first, the peaks, what is still live.
void add_headline(text_page& page, const process_view& view);

// Only the first of them: which process, and how it ended.
void add_title(text_page& page, const process_view& view);

// What the journal could not tell: torn lines, lost records, names that are missing.
void add_notes(text_page& page, const process_view& view);

}  // namespace gpumem
