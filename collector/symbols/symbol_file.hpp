// The sidecar with the names of a journal's addresses, resolved on the machine where the process ran.
#pragma once

#include <filesystem>

#include "symbols/symbolizer.hpp"

namespace gpumem {

// Empty where there is no such file, or where it is not such a sidecar.
NamesByFile read_symbol_file(const std::filesystem::path& path);

// Throws error where the file cannot be written.
void write_symbol_file(const std::filesystem::path& path, const NamesByFile& names);

}  // namespace gpumem
