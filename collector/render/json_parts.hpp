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

const char* word(ending how);
const char* word(leak_class what);
const char* word(outcome end);
const char* word(certainty sureness);

ordered_json total_object(const total_key& total);
void put_usage(ordered_json& object, const usage& amount);
ordered_json site_object(const process_view& view, std::uint64_t stack);
ordered_json process_object(const process_view& view);

}  // namespace gpumem
