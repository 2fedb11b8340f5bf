#include <algorithm>

#include "render/pointer_text.hpp"
#include "render/site_groups.hpp"
#include "render/text_diagnosis.hpp"
#include "render/text_parts.hpp"
#include "render/units.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

constexpr std::size_t label_width = diagnosis_label_width;

void add_list(TextPage& page, const char* label, const std::vector<std::string>& clauses) {
  for (const auto& clause : clauses) {
    page.fact(label, printable(clause), label_width);
    label = "";
  }
}

void add_request(TextPage& page, const ProcessView& view, const FailureGroup& group) {
  const FailureRecord& failure = group.first;
  if (failure.tried == schema::op::alloc) {
    const std::string last = group.is_shrinking() ? ", coming down to " + exact_bytes(group.last_bytes) : "";
    const std::string asked = is_object(failure.kind) ? quantity_text(failure.kind, 1)
                                                      : exact_bytes(failure.bytes) + " of " + kind_text(failure.kind);
    page.fact("Request", asked + last, label_width);
  }
  if (failure.device) page.fact("Device", device_text(view.process, *failure.device), label_width);
}

// Who held the device's memory when the request failed, which may be long before or after the peak.
void add_held_then(TextPage& page, const ProcessView& view, const FailureGroup& group) {
  std::vector<std::uint64_t> stacks;
  for (const auto& each : group.held) stacks.push_back(each.key.stack);
  const auto labels = distinct_labels(stacks, view.names);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto& site = group.held[i];
    lines.push_back(amount_text(site.key.total.kind, site.amount) + " from " + labels[i]);
  }
  add_list(page, "Held then", lines);
}

void add_stack_below(TextPage& page, const ProcessView& view, std::uint64_t stack) {
  if (view.names.of(stack).frames.empty()) return;
  page.line("Stack", 2);
  add_stack(page, view, stack, 4);
}

void add_failure(TextPage& page, const ProcessView& view, const ExplainedFailure& each) {
  const FailureGroup& group = each.group;
  const char* rank = group.end == Outcome::recovered ? "Recovered: " : group.first.first ? "First failing call: " : "";
  page.lead(rank + failure_text(view, group));
  add_diagnosis(page, diagnosis_of(view, each), view.lines != nullptr);
  add_request(page, view, group);
  add_held_then(page, view, group);
  if (const auto outcome = outcome_text(group); !outcome.empty()) page.fact("Outcome", outcome, label_width);
  if (const auto runtime =
          runtime_of_failure(view.process.all_modules, group.first, view.process.stack(group.first.stack))) {
    page.fact("Runtime", printable(runtime->describe()), label_width);
  }
  page.fact("Thread", std::to_string(group.first.tid), label_width);
  add_stack_below(page, view, group.first.stack);
}

void add_hang(TextPage& page, const ProcessView& view, const ExplainedHang& each) {
  page.lead(in_flight_text(view, each.begin) + ".");
  add_diagnosis(page, diagnosis_of(view, each), view.lines != nullptr);
  add_stack_below(page, view, each.begin.stack);
}

// The lines of the journal that the above was read from.
void add_lines_behind(TextPage& page, const ProcessView& view) {
  if (!view.lines || view.lines->empty()) return;
  page.heading("The lines of the journal behind this");
  for (const auto& [_, text] : *view.lines) page.line(printable(text), 2);
}

// Calls that succeeded, and that no block of the journal answers to.
void add_unknown_frees(TextPage& page, const ProcessView& view) {
  const auto& frees = view.process.first_unknown_frees;
  if (frees.empty()) return;
  page.heading("Given back, and not known to be allocated");
  const std::size_t shown = std::min(frees.size(), view.most_items);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [call, pointer] = frees[i];
    const bool is_wrong = pointer.live && !pointer.live->is_right_function;
    page.item(printable(call.api) + " at " + duration_text(call.ns) + ", called by " + view.names.of(call.stack).label +
                  ": " + pointer_text(view, call, pointer) +
                  (is_wrong ? "; it must be given back by " + given_back_text(pointer.live->total.kind) : ""),
              2);
  }
  if (view.process.unknown_frees > shown) page.item(grouped(view.process.unknown_frees - shown) + " more", 2);
}

}  // namespace

void add_failures(TextPage& page, const ProcessView& view) {
  if (view.troubles.failures.empty()) {
    page.paragraph(
        "No recorded call failed: none that starts CUDA, makes a context, allocates, frees, loads code or launches it, "
        "and "
        "none that only uses CUDA. Kernels and copies are not recorded: a fault in them shows in a later call.");
  }
  std::size_t shown = 0;
  for (const auto& each : view.troubles.failures) {
    if (shown == view.most_items) break;
    if (shown++ > 0) page.blank_line();
    add_failure(page, view, each);
  }
  if (view.troubles.failures.size() > shown) {
    page.blank_line();
    page.paragraph("... and " + grouped(view.troubles.failures.size() - shown) + " more: `" + view.program +
                   " failures`.");
  }
  for (const auto& each : view.troubles.hangs) {
    page.blank_line();
    add_hang(page, view, each);
  }
  add_unknown_frees(page, view);
  add_lines_behind(page, view);
}

}  // namespace gpumem
