// The reports as JSON; docs/REPORT.md is the schema.
#pragma once

#include <nlohmann/json.hpp>

#include "render/text_reports.hpp"

namespace gpumem {

inline constexpr int report_schema_version = 2;

// The part of one process, as each report shows it.
nlohmann::ordered_json json_report(const ProcessView& view);
nlohmann::ordered_json json_leaks(const ProcessView& view);
nlohmann::ordered_json json_peaks(const ProcessView& view);
nlohmann::ordered_json json_failures(const ProcessView& view);

nlohmann::ordered_json json_snapshot(const ProcessView& view);

}  // namespace gpumem
