// Processes that ran at the same time, shown as one job: in text above the single reports, and in JSON.
#pragma once

#include <string>
#include <vector>

#include "analyze/fleet.hpp"
#include "analyze/frame_rules.hpp"
#include "render/json_parts.hpp"
#include "render/text_page.hpp"
#include "symbols/symbolizer.hpp"

namespace gpumem {

// The newest few, and how many there are beside. Adds nothing where there is none.
void add_fleets(TextPage& page, const std::vector<Fleet>& fleets, Symbolizer& symbols, const FrameRules& rules);

ordered_json json_fleets(const std::vector<Fleet>& fleets, Symbolizer& symbols, const FrameRules& rules);

// "rank 3, ./train (pid 7)"
std::string fleet_process_text(const FleetProcess& process);

}  // namespace gpumem
