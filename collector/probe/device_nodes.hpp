// The files through which CUDA reaches the driver, and whether this user can open them.
#pragma once

#include <filesystem>

#include "probe/section.hpp"

namespace gpumem {

// What the folder shows, which is /dev but in tests. Asks no driver, so it cannot hang. To be called before NVML, which
// may itself make nodes.
nlohmann::ordered_json find_device_nodes(const std::filesystem::path& folder);

// The same with what opening each of them gives.
void tell_device_nodes(Findings& findings, const nlohmann::ordered_json& found);

}  // namespace gpumem
