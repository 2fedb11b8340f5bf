// Where the shim lies.
#pragma once

#include <filesystem>

namespace gpumem {

// Absolute path of libgpumemshim.so: beside this executable, or in ../lib of it. Throws error where it is in neither.
std::filesystem::path find_shim();

}  // namespace gpumem
