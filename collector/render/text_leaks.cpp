#include "render/site_groups.hpp"
#include "render/text_parts.hpp"
#include "render/units.hpp"

namespace gpumem {
namespace {

struct ClassText {
  LeakClass what;
  const char* heading;
  const char* meaning;
};

constexpr ClassText class_texts[] = {
    {LeakClass::growing, "Growing: live at the end, and kept rising",
     "The least live bytes per time window rose almost to the end of the session."},
    {LeakClass::held, "Held: live at the end, not rising",
     "Allocated once or come to rest: a cache, a workspace, or memory that simply was not freed."},
    {LeakClass::free_failed, "Free failed: the program tried, the call returned an error", ""},
    {LeakClass::dropped, "Dropped: ended with its context, not by a free", ""},
    {LeakClass::freed_at_exit, "Freed at exit: by destructors, after the exit handlers had begun",
     "Harmless for the memory; no leak."},
};

std::uint64_t positive(std::int64_t value) { return value > 0 ? static_cast<std::uint64_t>(value) : 0; }

std::string windows_text(const std::vector<std::int64_t>& minima) {
  std::string text;
  for (const auto bytes : minima) text += (text.empty() ? "" : ", ") + bytes_text(positive(bytes));
  return text;
}

std::string history_text(const Leak& each) {
  if (each.allocated.blocks == 1) return "allocated at " + duration_text(each.first_ns);
  return grouped(positive(each.allocated.blocks)) + " allocated here in all, from " + duration_text(each.first_ns) +
         " to " + duration_text(each.last_ns);
}

void add_leak(TextPage& page, const ProcessView& view, const Leak& each, const std::string& label) {
  page.hanging(label, 2);
  page.paragraph(count_of(positive(each.amount.blocks), "block") + ", " + exact_bytes(positive(each.amount.bytes)) +
                     " of " + total_text(each.site.total) + "; " + history_text(each) + ".",
                 4);
  if (each.what == LeakClass::growing && !each.minima.empty())
    page.paragraph("Least live bytes per window: " + windows_text(each.minima) + ".", 4);
  add_stack(page, view, each.site.stack, 6);
}

void add_drops(TextPage& page, const ProcessView& view) {
  for (const auto& drop : view.process.context_drops) {
    if (drop.dropped.blocks <= 0) continue;
    page.paragraph(printable(drop.api) + " at " + duration_text(drop.ns) + ", called by " +
                       view.names.of(drop.stack).label + ", ended " + blocks_and_bytes(drop.dropped) + ".",
                   2);
  }
}

}  // namespace

void add_leaks(TextPage& page, const ProcessView& view) {
  if (view.process.leaks.empty()) {
    page.paragraph(view.process.misses_lines() || view.process.misses_blocks()
                       ? "Every recorded block was freed; the record is incomplete."
                       : "Everything that was allocated was freed.");
    return;
  }
  if (view.process.misses_lines()) {
    page.paragraph("Lines were lost: blocks may be missing here, and blocks shown as live may have been freed.");
  } else if (view.process.misses_blocks()) {
    page.paragraph("Blocks did not fit into the shim's tables: at least what follows was not given back.");
  }
  if (!view.process.end.handlers_ran) {
    page.paragraph("The process did not reach its end: memory that it would still have freed counts as live here.");
  }
  const auto leaks = merge_sites(view.process.leaks, view.names);
  for (const auto& texts : class_texts) {
    std::vector<std::uint64_t> stacks;
    for (const auto& each : leaks) {
      if (each.what == texts.what) stacks.push_back(each.site.stack);
    }
    const auto labels = distinct_labels(stacks, view.names);
    std::size_t shown = 0;
    std::size_t left_out = 0;
    for (const auto& each : leaks) {
      if (each.what != texts.what) continue;
      if (shown == view.most_items) {
        ++left_out;
        continue;
      }
      if (shown++ == 0) {
        page.heading(texts.heading);
        if (*texts.meaning) page.paragraph(texts.meaning, 2);
        if (texts.what == LeakClass::dropped) add_drops(page, view);
      }
      add_leak(page, view, each, labels[shown - 1]);
    }
    if (left_out > 0)
      page.paragraph("... and " + count_of(left_out, "more call site") + ": `" + view.program + " leaks`.", 2);
  }
}

}  // namespace gpumem
