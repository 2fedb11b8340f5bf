// The rules of frames' owners: gpumem's own list, and before it the user's.
#pragma once

#include <string>

#include "analyze/frame_rules.hpp"

namespace gpumem {

// Where the user's list is looked for if none is named: $XDG_CONFIG_HOME/gpumem/frames, or ~/.config/gpumem/frames.
std::string usual_frame_list();

// `chosen` is the list that was asked for; empty: the usual one, if there is such a file. Throws Error where a list
// cannot be read or has a line that is none.
FrameRules frame_rules(const std::string& chosen);

}  // namespace gpumem
