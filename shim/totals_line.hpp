// The counters of the process: in between, at its end, and of some in checkpoints.
#pragma once

#include <string_view>

#include "journal/line.hpp"

namespace gpumem {

struct Session;

// ,"events":…,"failures":…,"lost":{…}
void write_counts(Line& line, const Session& session);
// `type`: schema::line::totals or end.
void write_totals(Line& line, Session& session, std::string_view type);

}  // namespace gpumem
