// Small files of the kernel's.
#pragma once

#include <cstddef>

namespace gpumem {

// The first bytes of a file, as many as there are and fit; 0 where it cannot be read.
std::size_t read_file(const char* path, char* content, std::size_t capacity);

}  // namespace gpumem
