#include <algorithm>

#include "render/site_groups.hpp"
#include "render/text_parts.hpp"
#include "render/units.hpp"

namespace gpumem {
namespace {

struct Section {
  std::optional<LeakClass> what;  // only memory, and of this class; else what is no memory, whatever its class
  std::optional<Counts> counts;   // of what is no memory; none: of kinds that are not known
  const char* heading;
  const char* meaning;

  bool holds(const Leak& each) const {
    const std::string& kind = each.site.total.kind;
    if (what) return is_memory(kind) && each.what == *what;
    return !is_memory(kind) && counts_of(kind) == counts && each.what != LeakClass::freed_at_exit;
  }
};

constexpr Section sections[] = {
    {LeakClass::growing,
     {},
     "Growing: live at the end, and kept rising",
     "The least live bytes per time window rose almost to the end of the session."},
    {LeakClass::held,
     {},
     "Held: live at the end, not rising",
     "Allocated once or come to rest: a cache, a workspace, or memory that simply was not freed."},
    {LeakClass::free_failed, {}, "Free failed: the program tried, the call returned an error", ""},
    {LeakClass::dropped, {}, "Dropped: ended with its context, not by a free", ""},
    {LeakClass::freed_at_exit,
     {},
     "Freed at exit: by destructors, after the exit handlers had begun",
     "Harmless for the memory; no leak."},
    {{},
     Counts::others_memory,
     "Opened and not closed: memory of another process or another API",
     "It belongs to them and is in no total of this process: close it, so that they can give it back."},
    {{},
     Counts::addresses,
     "Addresses: ranges, mappings and views",
     "They take no memory of their own; but physical memory lives as long as a mapping of it."},
    {{}, Counts::handles, "Objects not destroyed", ""},
    {{}, Counts::code, "Variables of loaded code", "They end with their module."},
    {{}, {}, "Of kinds that this gpumem does not know", "In no total: a newer library wrote this journal."},
};

const char* class_text(LeakClass what) {
  switch (what) {
    case LeakClass::growing: return ", still growing";
    case LeakClass::free_failed: return ", tried to give back, and the call failed";
    case LeakClass::dropped: return ", ended with the context";
    case LeakClass::held:
    case LeakClass::freed_at_exit: break;
  }
  return "";
}

std::uint64_t positive(std::int64_t value) { return value > 0 ? static_cast<std::uint64_t>(value) : 0; }

std::string windows_text(const Leak& each) {
  std::string text;
  for (const auto amount : each.minima) {
    text += (text.empty() ? "" : ", ") + quantity_text(each.site.total.kind, positive(amount));
  }
  return text;
}

std::string leak_amount(const Leak& each) {
  const std::string& kind = each.site.total.kind;
  const std::string text = is_object(kind) ? amount_text(kind, each.amount)
                                           : count_of(positive(each.amount.blocks), "block") + ", " +
                                                 exact_bytes(positive(each.amount.bytes)) + " of " + kind_text(kind);
  return text + on_device(each.site.total) + (is_memory(kind) ? "" : class_text(each.what));
}

std::string history_text(const Leak& each) {
  const std::string made = is_object(each.site.total.kind) ? "made" : "allocated";
  if (each.allocated.blocks == 1) return made + " at " + duration_text(each.first_ns);
  return grouped(positive(each.allocated.blocks)) + " " + made + " here in all, from " + duration_text(each.first_ns) +
         " to " + duration_text(each.last_ns);
}

// What else hangs on the blocks: whose they are a part of, and who else holds them.
void add_ties(TextPage& page, const ProcessView& view, const Leak& each) {
  if (each.owner) {
    page.paragraph(
        "Belongs to a " + one_of_kind(each.owner->total.kind) + " from " + view.names.of(each.owner->stack).label + ".",
        4);
  }
  if (each.further_references > 0) {
    page.paragraph(count_of(positive(each.further_references), "further reference") + " to be given back first.", 4);
  }
  if (each.exported > 0) {
    page.paragraph(count_of(positive(each.exported), "block") + " exported: other processes may keep the memory.", 4);
  }
}

void add_leak(TextPage& page, const ProcessView& view, const Leak& each, const std::string& label) {
  page.hanging(label, 2);
  page.paragraph(leak_amount(each) + "; " + history_text(each) + ".", 4);
  if (each.what == LeakClass::growing && !each.minima.empty())
    page.paragraph("Least live per window: " + windows_text(each) + ".", 4);
  if (each.what <= LeakClass::free_failed) add_ties(page, view, each);
  add_stack(page, view, each.site.stack, 6);
}

void add_drops(TextPage& page, const ProcessView& view) {
  for (const auto& drop : view.process.context_drops) {
    const std::string ended = sums_text(drop.dropped);
    if (ended.empty()) continue;
    page.paragraph(printable(drop.api) + " at " + duration_text(drop.ns) + ", called by " +
                       view.names.of(drop.stack).label + ", ended " + ended + ".",
                   2);
  }
}

void add_section(TextPage& page, const ProcessView& view, const Section& section, const std::vector<Leak>& leaks) {
  std::vector<Leak> members;
  std::vector<std::uint64_t> stacks;
  for (const auto& each : leaks) {
    if (!section.holds(each)) continue;
    members.push_back(each);
    stacks.push_back(each.site.stack);
  }
  if (members.empty()) return;
  page.heading(section.heading);
  if (*section.meaning) page.paragraph(section.meaning, 2);
  if (section.what == LeakClass::dropped) add_drops(page, view);
  const auto labels = distinct_labels(stacks, view.names);
  const std::size_t shown = std::min(members.size(), view.most_items);
  for (std::size_t i = 0; i < shown; ++i) add_leak(page, view, members[i], labels[i]);
  if (members.size() > shown) {
    page.paragraph("... and " + count_of(members.size() - shown, "more call site") + ": `" + view.program + " leaks`.",
                   2);
  }
}

}  // namespace

void add_leaks(TextPage& page, const ProcessView& view) {
  if (view.process.leaks.empty()) {
    page.paragraph(view.process.misses_lines() || view.process.misses_blocks()
                       ? "Every recorded block was freed; the record is incomplete."
                       : "Everything that was allocated was freed.");
    add_reservations(page, view);
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
  for (const auto& section : sections) add_section(page, view, section, leaks);
  add_reservations(page, view);
}

}  // namespace gpumem
