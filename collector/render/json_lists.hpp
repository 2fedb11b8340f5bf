// Parts of the JSON reports that fill a file of their own.
#pragma once

#include "render/json_parts.hpp"

namespace gpumem {

ordered_json failure_list(const ProcessView& view);
ordered_json unknown_free_list(const ProcessView& view);
ordered_json in_flight_list(const ProcessView& view);

ordered_json unexplained_list(const ProcessView& view);
ordered_json reservation_list(const ProcessView& view);
ordered_json coverage_object(const ProcessView& view);

}  // namespace gpumem
