#include "render/text_parts.hpp"
#include "render/units.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

constexpr std::size_t label_width = 9;

const char* sureness_text(Certainty sureness) {
  switch (sureness) {
    case Certainty::proven: return "Cause";
    case Certainty::likely: return "Likely";
    case Certainty::open: break;
  }
  return "Verdict";
}

void add_list(TextPage& page, const char* label, const std::vector<std::string>& clauses) {
  for (const auto& clause : clauses) {
    page.fact(label, printable(clause), label_width);
    label = "";
  }
}

void add_request(TextPage& page, const ProcessView& view, const FailureGroup& group) {
  const FailureRecord& failure = group.first;
  if (failure.tried == schema::op::alloc) {
    page.fact("Request", exact_bytes(failure.bytes) + " of " + kind_text(failure.kind), label_width);
  }
  if (failure.device) page.fact("Device", device_text(view.process, *failure.device), label_width);
}

void add_failure(TextPage& page, const ProcessView& view, const ExplainedFailure& each) {
  const FailureGroup& group = each.group;
  page.lead((group.first.first ? "First failing call: " : "") + failure_text(view, group));
  page.fact(sureness_text(each.why.sureness), printable(each.why.verdict), label_width);
  add_list(page, "Evidence", each.why.evidence);
  std::vector<std::string> candidates;
  for (const auto& possible : each.why.candidates) {
    candidates.push_back(possible.cause + "; what decides: " + possible.decided_by);
  }
  add_list(page, "Possible", candidates);
  if (!each.why.advice.empty()) page.fact("Advice", printable(each.why.advice), label_width);
  add_request(page, view, group);
  if (const auto outcome = outcome_text(group); !outcome.empty()) page.fact("Outcome", outcome, label_width);
  if (const auto runtime =
          runtime_of_failure(view.process.all_modules, group.first, view.process.stack(group.first.stack))) {
    page.fact("Runtime", printable(runtime->describe()), label_width);
  }
  page.fact("Thread", std::to_string(group.first.tid), label_width);
  if (!view.names.of(group.first.stack).frames.empty()) {
    page.line("Stack", 2);
    add_stack(page, view, group.first.stack, 4);
  }
}

}  // namespace

void add_failures(TextPage& page, const ProcessView& view) {
  if (view.process.failures.empty()) page.paragraph("No recorded call failed.");
  std::size_t shown = 0;
  for (const auto& each : view.process.failures) {
    if (shown == view.most_items) break;
    if (shown++ > 0) page.blank_line();
    add_failure(page, view, each);
  }
  if (view.process.failures.size() > shown) {
    page.blank_line();
    page.paragraph("... and " + grouped(view.process.failures.size() - shown) + " more: `gpumem failures`.");
  }
  for (const auto& begin : view.process.in_flight) {
    page.blank_line();
    page.lead(printable(begin.api) + " was entered and never returned, called by " + view.names.of(begin.stack).label);
    page.paragraph("Entered " + in_flight_since(view.process, begin) + ", by thread " + std::to_string(begin.tid) +
                       ". A call that hangs here waits for the driver or an MPS daemon.",
                   2);
    add_stack(page, view, begin.stack, 4);
  }
}

}  // namespace gpumem
