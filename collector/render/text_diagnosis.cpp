#include "render/text_diagnosis.hpp"

#include "render/units.hpp"

namespace gpumem {
namespace {

constexpr std::size_t label_width = diagnosis_label_width;

const char* sureness_text(Certainty sureness) {
  switch (sureness) {
    case Certainty::proven: return "Cause";
    case Certainty::likely: return "Likely";
    case Certainty::open: break;
  }
  return "Verdict";
}

std::string evidence_text(const Evidence& evidence, bool names_lines) {
  if (!names_lines) return evidence.text;
  std::string source = evidence.where;
  if (evidence.line) {
    source = std::string(evidence.line->type) + " line at " + std::to_string(evidence.line->ns) + " ns" +
             (source.empty() ? "" : ": " + source);
  }
  return source.empty() ? evidence.text : evidence.text + "  [" + source + "]";
}

void add_evidence(TextPage& page, bool names_lines, const char* label, const std::vector<Evidence>& all,
                  const std::string& prefix = "") {
  for (const auto& evidence : all) {
    page.fact(label, printable(prefix + evidence_text(evidence, names_lines)), label_width);
    label = "";
  }
}

// Each cause that remains, what decides, and what is known of it.
void add_candidates(TextPage& page, bool names_lines, const std::vector<Candidate>& candidates) {
  const char* label = "Possible";
  for (const auto& each : candidates) {
    page.fact(label, printable(each.cause + "; what decides: " + each.decided_by), label_width);
    label = "";
    add_evidence(page, names_lines, label, each.evidence, "  for it: ");
    add_evidence(page, names_lines, label, each.against, "  against it: ");
  }
}

void add_ruled_out(TextPage& page, bool names_lines, const std::vector<RuledOut>& all) {
  const char* label = "Not";
  for (const auto& each : all) {
    std::string reasons;
    for (const auto& evidence : each.against)
      reasons += (reasons.empty() ? "" : "; ") + evidence_text(evidence, names_lines);
    page.fact(label, printable("that " + each.cause + ": " + reasons), label_width);
    label = "";
  }
}

}  // namespace

void add_diagnosis(TextPage& page, const Diagnosis& why, bool names_lines) {
  page.fact(sureness_text(why.sureness), printable(why.verdict), label_width);
  add_evidence(page, names_lines, "Evidence", why.evidence);
  add_candidates(page, names_lines, why.candidates);
  add_ruled_out(page, names_lines, why.ruled_out);
  const char* label = "Advice";
  for (const auto& sentence : why.advice) {
    page.fact(label, printable(sentence), label_width);
    label = "";
  }
}

}  // namespace gpumem
