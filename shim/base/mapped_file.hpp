// The file behind a mapping, by the kernel's list.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpumem {

// The path of the file whose mapping begins at `address`, not NUL-terminated; its length, 0 if it is not known.
std::size_t mapped_file(std::uintptr_t address, char* path, std::size_t capacity);

}  // namespace gpumem
