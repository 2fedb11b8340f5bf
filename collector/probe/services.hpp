// NVIDIA's services that some machines need before CUDA can start.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "probe/holders.hpp"

namespace gpumem {

// The control daemon and the servers that share a GPU between processes.
nlohmann::ordered_json mps(const ProcessScan& scan);

// `root` is "/" but in tests. "needed": whether there are NVSwitches; null where that cannot be seen.
nlohmann::ordered_json fabric_manager(const std::filesystem::path& root, const ProcessScan& scan);

}  // namespace gpumem
