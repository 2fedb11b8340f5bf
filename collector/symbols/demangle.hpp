// Names of C++ and Rust made readable.
#pragma once

#include <string>

namespace gpumem {

// Anything else, and what would need more than a fixed amount of memory and time, comes back as it is.
std::string demangle(const char* name);

}  // namespace gpumem
