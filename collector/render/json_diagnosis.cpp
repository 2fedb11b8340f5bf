#include "render/json_parts.hpp"

namespace gpumem {
namespace {

using json = ordered_json;

json evidence_list(const std::vector<Evidence>& all) {
  json list = json::array();
  for (const auto& each : all) {
    list.push_back(
        {{"text", each.text},
         {"record", each.line ? json{{"t", each.line->type}, {"ns", each.line->ns}, {"tid", each.line->tid}} : json()},
         {"where", or_null(each.where)}});
  }
  return list;
}

}  // namespace

json diagnosis_object(const Diagnosis& why) {
  json candidates = json::array(), ruled_out = json::array();
  for (const auto& each : why.candidates) {
    candidates.push_back({{"id", each.id},
                          {"cause", each.cause},
                          {"decided_by", each.decided_by},
                          {"evidence", evidence_list(each.evidence)},
                          {"against", evidence_list(each.against)}});
  }
  for (const auto& each : why.ruled_out)
    ruled_out.push_back({{"id", each.id}, {"cause", each.cause}, {"against", evidence_list(each.against)}});
  return {{"id", or_null(why.id)},
          {"certainty", word(why.sureness)},
          {"verdict", why.verdict},
          {"evidence", evidence_list(why.evidence)},
          {"advice", why.advice},
          {"candidates", std::move(candidates)},
          {"ruled_out", std::move(ruled_out)}};
}

}  // namespace gpumem
