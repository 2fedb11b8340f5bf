// What memory the host has left, and promises.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace gpumem {

// `root` is "/" but in tests. Where /proc/meminfo cannot be read all is null, with "reason".
nlohmann::ordered_json host_memory(const std::filesystem::path& root);

}  // namespace gpumem
