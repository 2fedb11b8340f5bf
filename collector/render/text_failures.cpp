#include "render/text_parts.hpp"
#include "render/units.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

constexpr std::size_t label_width = 9;

const char* sureness_text(certainty sureness) {
  switch (sureness) {
    case certainty::proven: return "Cause";
    case certainty::likely: return "Likely";
    case certainty::open: break;
  }
  return "Verdict";
}

void add_request(text_page& page, const process_view& view, const failure_group& group) {
  const failure_record& failure = group.first;
  std::string text;
  if (failure.tried == schema::op::alloc) text = exact_bytes(failure.bytes) + " of " + kind_text(failure.kind);
  if (failure.device) text += (text.empty() ? "on " : " on ") + device_text(view.process, *failure.device);
  if (!text.empty()) page.fact("Request", text, label_width);
}

void add_failure(text_page& page, const process_view& view, const explained_failure& each) {
  const failure_group& group = each.group;
  page.lead((group.first.first ? "First failing call: " : "") + failure_text(view, group));
  page.fact(sureness_text(each.why.sureness), printable(each.why.verdict), label_width);
  for (const auto& clause : each.why.evidence) page.fact("Evidence", printable(clause), label_width);
  for (const auto& candidate : each.why.candidates) {
    page.fact("Possible", printable(candidate.cause) + "; what decides: " + candidate.decided_by, label_width);
  }
  if (!each.why.advice.empty()) page.fact("Advice", printable(each.why.advice), label_width);
  add_request(page, view, group);
  if (const auto outcome = outcome_text(group); !outcome.empty()) page.fact("Outcome", outcome, label_width);
  if (const auto runtime = runtime_on_stack(view.process.all_modules, view.process.stack(group.first.stack))) {
    page.fact("Runtime", printable(runtime->describe()), label_width);
  }
  page.fact("Thread", std::to_string(group.first.tid), label_width);
  if (!view.names.of(group.first.stack).frames.empty()) {
    page.line("Stack", 2);
    add_stack(page, view, group.first.stack, 4);
  }
}

}  // namespace

void add_failures(text_page& page, const process_view& view) {
  if (view.process.failures.empty()) page.paragraph("No recorded call failed.");
  bool is_first = true;
  for (const auto& each : view.process.failures) {
    if (!is_first) page.blank_line();
    is_first = false;
    add_failure(page, view, each);
  }
  for (const auto& begin : view.process.in_flight) {
    page.blank_line();
    page.lead(printable(begin.api) + " was entered and never returned, called by " + view.names.of(begin.stack).label);
    page.paragraph("Entered " + duration_text(view.process.last_ns - begin.ns) + " before the last record, by thread " +
                       std::to_string(begin.tid) + ". A call that hangs here waits for the driver or an MPS daemon.", 2);
    add_stack(page, view, begin.stack, 4);
  }
}

}  // namespace gpumem
