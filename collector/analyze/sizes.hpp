// Bytes as people read them: "312.0 MiB", "10.2 GiB", "17 bytes".
#pragma once

#include <cstdint>
#include <string>

namespace gpumem {

std::string bytes_text(std::uint64_t bytes);

}  // namespace gpumem
