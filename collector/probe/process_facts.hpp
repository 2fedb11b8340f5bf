// What /proc says of another process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace gpumem {

// What is not known is null, with "reason": there is no such process here, it may not be read, or GPUMEM_REDACT=1 keeps
// its command line back. `proc` is "/proc" but in tests.
nlohmann::ordered_json process_facts(std::int64_t pid, const std::filesystem::path& proc = "/proc");

}  // namespace gpumem
