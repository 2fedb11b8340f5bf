// Limits of host memory that a container or a job scheduler has set.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace gpumem {

// `root` is "/" but in tests. "version" is 2, 1 or null; "levels" go from the process's own group up to the topmost
// that is seen from here, since each of them may have the limit that counts.
nlohmann::ordered_json cgroup_memory(const std::filesystem::path& root);

}  // namespace gpumem
