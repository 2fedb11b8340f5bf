#include "diagnose/start.hpp"

#include <algorithm>

#include "analyze/error_codes.hpp"
#include "diagnose/beside.hpp"
#include "diagnose/cause.hpp"
#include "diagnose/libraries.hpp"

namespace gpumem {
namespace {

struct Weighed {
  const Cause* cause;
  Finding finding;
};

template <class Take>
void for_each_cause(std::int64_t code, Take take) {
  for (const Causes theme : {causes_in_memory(), causes_in_process(), causes_in_modes(), causes_in_health(),
                             causes_in_access(), causes_in_services(), causes_in_driver(), causes_in_code()}) {
    for (const Cause& cause : theme) {
      if (cause.explains(code)) take(cause);
    }
  }
}

std::vector<Weighed> weigh_all(const Scene& scene) {
  std::vector<Weighed> all;
  for_each_cause(scene.code(), [&](const Cause& cause) { all.push_back({&cause, cause.weigh(scene)}); });
  std::stable_sort(all.begin(), all.end(),
                   [](const Weighed& a, const Weighed& b) { return a.finding.weight > b.finding.weight; });
  return all;
}

void take_as_verdict(Diagnosis& result, Weighed& weighed) {
  const Cause& cause = *weighed.cause;
  Finding& finding = weighed.finding;
  result.sureness = finding.weight == Weight::proven ? Certainty::proven : Certainty::likely;
  result.id = cause.id;
  result.verdict = finding.verdict.empty() ? std::string(cause.verdict) : std::move(finding.verdict);
  result.evidence = std::move(finding.evidence);
  result.advice = std::move(finding.advice);
  if (result.advice.empty() && !cause.advice.empty()) result.advice.emplace_back(cause.advice);
}

void tell_code(const Scene& scene, Diagnosis& result) {
  const auto* meaning = find_code(scene.code());
  result.verdict =
      std::string(scene.failure().start ? "CUDA did not start: " : "The call failed: ") +
      (meaning ? std::string(meaning->meaning) : "the code " + std::to_string(scene.code()) + " is not known") + ".";
}

void tell_missing_figure(const Scene& scene, Diagnosis& result) {
  const bool knows_free =
      std::any_of(scene.gpus().begin(), scene.gpus().end(), [](const Gpu* gpu) { return gpu->free.has_value(); });
  if (scene.code() == 2 && !knows_free) {
    result.evidence.push_back(
        {"there is no figure of free device memory at that moment, so it is not known whether "
         "the GPU was full",
         std::nullopt, ""});
  }
}

// The driver reads them in cuInit: between which two moments that are known it was changed.
std::string time_of_change(const Scene& scene, const std::string& name, const std::optional<std::string>& value) {
  const auto& init = scene.process().first_init;
  if (!init || !name.starts_with("CUDA_")) return "";
  const auto at_init = init->env_now.find(name);
  if (at_init == init->env_now.end()) {
    return " only after cuInit had succeeded, which reads it: the change has no effect";
  }
  return at_init->second == value
             ? " before cuInit, which reads it, succeeded at " + std::to_string(init->ns / 1'000'000) + " ms"
             : " after cuInit had succeeded, which read \"" + at_init->second.value_or("") + "\"";
}

void add_changed_variables(const Scene& scene, Diagnosis& result) {
  for (const auto& [name, value] : scene.failure().env_now) {
    const auto before = scene.variable_at_exec(name);
    std::string text = name + (before ? " was \"" + *before + "\"" : " was not set") +
                       " at the start of the program, " +
                       (value ? "and had become \"" + *value + "\"" : "and had been unset");
    text += time_of_change(scene, name, value);
    result.evidence.push_back(scene.from_variable(std::move(text), name));
  }
}

// What else than software is proven leaves nothing for other libraries to explain.
bool may_be_software(const Diagnosis& result) {
  const auto has_it = [&](Causes theme) {
    return std::any_of(theme.begin(), theme.end(), [&](const Cause& cause) { return cause.id == result.id; });
  };
  return result.sureness != Certainty::proven || has_it(causes_in_driver()) || has_it(causes_in_code());
}

}  // namespace

bool Cause::explains(std::int64_t code) const {
  return code != 0 && std::find(codes.begin(), codes.end(), code) != codes.end();
}

bool is_explained_by_causes(const Scene& scene) {
  bool is_explained = false;
  for_each_cause(scene.code(), [&](const Cause&) { is_explained = true; });
  return is_explained;
}

Diagnosis diagnose_start(const Scene& scene) {
  auto weighed = weigh_all(scene);
  Diagnosis result;
  const bool is_decided = !weighed.empty() && weighed.front().finding.weight >= Weight::likely;
  if (is_decided) {
    take_as_verdict(result, weighed.front());
    weighed.erase(weighed.begin());
  } else {
    tell_code(scene, result);
    tell_what_is_missing(scene, result);
    tell_missing_figure(scene, result);
    tell_software(scene, result);
  }
  for (auto& each : weighed) {
    const Cause& cause = *each.cause;
    Finding& finding = each.finding;
    const bool points_at_it = finding.weight >= Weight::likely || !finding.evidence.empty();
    const bool stays_open = !is_decided || (result.sureness == Certainty::likely && finding.weight >= Weight::likely);
    if (finding.weight == Weight::ruled_out) {
      if (!finding.against.empty())
        result.ruled_out.push_back({std::string(cause.id), std::string(cause.cause), std::move(finding.against)});
    } else if (stays_open && (points_at_it || !cause.is_rare)) {
      result.candidates.push_back({std::string(cause.id), std::string(cause.cause), std::string(cause.decided_by),
                                   std::move(finding.evidence), std::move(finding.against)});
    }
  }
  add_changed_variables(scene, result);
  if (may_be_software(result)) {
    for (auto& evidence : compare_libraries(scene)) result.evidence.push_back(std::move(evidence));
  }
  return result;
}

}  // namespace gpumem
