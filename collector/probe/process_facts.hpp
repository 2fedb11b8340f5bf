// What /proc says of a process that NVML has named.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace gpumem {

// What is not known is null, with "reason": there is no such process here, or it may not be read.
nlohmann::ordered_json process_facts(std::int64_t pid);

}  // namespace gpumem
