#include "render/text_parts.hpp"
#include "render/units.hpp"

namespace gpumem {
namespace {

constexpr std::size_t most_items_in_report = 5;

void add_device_lines(TextPage& page, const ProcessAnalysis& process) {
  if (process.devices.empty()) return;
  page.heading("Devices");
  for (const auto& [ordinal, device] : process.devices) {
    std::string text = device_text(process, ordinal);
    if (device.total) text += ", " + bytes_text(*device.total);
    if (device.uuid) text += ", " + printable(*device.uuid);
    page.paragraph(text, 2);
    const auto figures = process.figures.find(ordinal);
    if (figures == process.figures.end()) continue;
    const DriverMoment& last = figures->second.moments.back();
    page.paragraph("The driver reported " + bytes_text(last.free) + " free at " + duration_text(last.ns) +
                       ", the last time it was asked.",
                   4);
  }
}

void add_marks(TextPage& page, const ProcessAnalysis& process) {
  if (process.marks.empty()) return;
  page.heading("Marks");
  TableRows rows;
  constexpr std::size_t most_at_each_end = 20;
  const std::size_t count = process.marks.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (i == most_at_each_end && count > 2 * most_at_each_end) {
      i = count - most_at_each_end;
      rows.push_back({"…", "", count_of(count - 2 * most_at_each_end, "mark") + " more: --format json has them"});
    }
    const MarkedMoment& moment = process.marks[i];
    std::string live;
    for (const auto& [device, bytes] : moment.on_device) {
      live += (live.empty() ? "" : ", ") + bytes_text(bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0) + " on GPU " +
              std::to_string(device);
    }
    if (live.empty()) live = moment.is_known ? "nothing" : "not known";
    rows.push_back({duration_text(moment.mark.ns), live, printable(moment.mark.text)});
  }
  page.table({{"at", Align::right}, {"live device memory", Align::right}, {"mark"}}, rows);
}

void add_library_lines(TextPage& page, const ProcessAnalysis& process) {
  const auto runtimes = find_runtimes(process.all_modules);
  const auto driver = driver_library(process.all_modules);
  if (runtimes.empty() && !driver) return;
  page.heading("CUDA libraries");
  for (const auto& runtime : runtimes) page.paragraph(printable(runtime.describe()), 2);
  if (driver) page.paragraph("driver library " + printable(*driver), 2);
  page.paragraph("kernel driver: " + printable(process.process.kernel_driver.value_or("none was loaded")), 2);
}

}  // namespace

void add_report(TextPage& page, const ProcessView& view) {
  add_headline(page, view);
  ProcessView shortened = view;
  shortened.most_items = most_items_in_report;
  if (!view.troubles.failures.empty() || view.process.unknown_frees > 0) {
    page.heading("What failed");
    add_failures(page, shortened);
  }
  bool has_peak = false;
  for (const auto& peak : view.process.peaks) has_peak = has_peak || peak.bytes() > 0;
  if (has_peak) add_peaks(page, view);
  if (!view.process.leaks.empty() || !view.process.reservations.empty()) {
    page.blank_line();
    add_leaks(page, shortened);
  }
  add_unexplained(page, view);
  add_marks(page, view.process);
  add_device_lines(page, view.process);
  add_library_lines(page, view.process);
}

void add_notes(TextPage& page, const ProcessView& view) {
  const auto& process = view.process;
  std::vector<std::string> notes;
  if (process.skipped.torn > 0) {
    notes.push_back(count_of(process.skipped.torn, "line") +
                    " had been half written when the process was killed: the calls in flight just then.");
  }
  if (process.skipped.invalid > 0) {
    notes.push_back(count_of(process.skipped.invalid, "line") +
                    " could not be read and were skipped; first: " + printable(process.skipped.first_invalid) + ".");
  }
  if (process.bad_marks > 0)
    notes.push_back(count_of(process.bad_marks, "line") + " of the file of marks could not be read.");
  if (process.skipped.cut) notes.push_back("The file is cut off in its last line, which was skipped.");
  if (process.skipped.unknown > 0) {
    notes.push_back(count_of(process.skipped.unknown, "line") + " skipped, of a type that this gpumem does not know.");
  }
  if (process.unknown_frees > 0) {
    notes.push_back(count_of(process.unknown_frees, "free") +
                    " of a pointer that no recorded call had allocated: allocated unseen, or freed twice.");
  }
  if (const auto& end = process.counters) {
    const auto unrecognised = end->routes.find("unrecognised");
    if (unrecognised != end->routes.end() && unrecognised->second > 0) {
      notes.push_back(count_of(unrecognised->second, "look-up") +
                      " of CUDA functions had an answer that the shim did not know: calls made through them are "
                      "missing here. `" +
                      view.program + " report --format json` has the count of every call.");
    }
    const auto wrong = end->stacks.find("wrong"), checked = end->stacks.find("checked");
    if (wrong != end->stacks.end() && checked != end->stacks.end() && wrong->second > 0) {
      notes.push_back("Of " + count_of(checked->second, "stack") + " that GPUMEM_VERIFY_STACKS checked, " +
                      std::to_string(wrong->second) +
                      " had been walked wrongly by gpumem's own rules; recorded is what Boost.Stacktrace found. "
                      "GPUMEM_UNWINDER=boost uses that alone.");
    }
    if (end->lost_lines > 0) {
      notes.push_back(count_of(end->lost_lines, "line") +
                      " did not fit into the journal (GPUMEM_JOURNAL_MAX) and are missing here.");
    }
    if (end->lost_stacks > 0) {
      notes.push_back(count_of(end->lost_stacks, "stack") + " did not fit into the shim's tables (GPUMEM_MEMORY_MAX).");
    }
  }
  if (process.misses_blocks()) {
    const std::string blocks = untracked_text(process);
    notes.push_back(blocks +
                    " did not fit into the shim's tables (GPUMEM_MEMORY_MAX): in no total, and their frees "
                    "count as frees of an unknown pointer.");
  }
  if (notes.empty()) return;
  page.heading("Notes");
  for (const auto& note : notes) page.item(note, 2);
}

}  // namespace gpumem
