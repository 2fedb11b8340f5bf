// Pieces of the JSON reports: words for enumerations, and the objects that several reports share.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "render/text_reports.hpp"

namespace gpumem {

using ordered_json = nlohmann::ordered_json;

template <class Value>
ordered_json or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json();
}
ordered_json or_null(const std::string& text);  // null for the empty text

const char* word(Ending how);
const char* word(LeakClass what);
const char* word(Outcome end);
const char* word(Certainty sureness);
const char* word(Counts counts);
const char* word(FrameOwner owner);

ordered_json total_object(const TotalKey& total);
void put_usage(ordered_json& object, const Usage& amount);
ordered_json site_object(const ProcessView& view, std::uint64_t stack);
ordered_json diagnosis_object(const Diagnosis& why);
ordered_json process_object(const ProcessView& view);

}  // namespace gpumem
