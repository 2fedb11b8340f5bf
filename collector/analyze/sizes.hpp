// Amounts as people read them: "312.0 MiB", "17 bytes", "1,024 blocks".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpumem {

std::string bytes_text(std::uint64_t bytes);
std::string grouped(std::uint64_t number);                               // 1,610,612,736
std::string plural_of(std::string_view noun);                            // libraries
std::string count_of(std::uint64_t count, std::string_view noun);        // 1 block, 3 blocks, 2 libraries
std::string quantity_text(std::string_view kind, std::uint64_t amount);  // 1.5 GiB, 3 streams

}  // namespace gpumem
