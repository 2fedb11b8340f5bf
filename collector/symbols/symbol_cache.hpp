// Names that were looked up before, by build-id, in a folder that all runs of a user share. What is wrong with it costs
// time, never names: a file that cannot be read is as good as none, one that cannot be written is left out.
#pragma once

#include <string>

#include "symbols/symbolizer.hpp"

namespace gpumem {

// $XDG_CACHE_HOME/gpumem/symbols, or below ~/.cache; empty where neither is known.
std::string symbol_cache_folder();

// Empty where the folder or the build-id is, or where nothing is known.
NamesOfFile read_symbol_cache(const std::string& folder, const std::string& build_id);

// What stands there stays. The folder is kept below a fixed size: what was not used for longest goes.
void add_to_symbol_cache(const std::string& folder, const std::string& build_id, const NamesOfFile& names);

}  // namespace gpumem
