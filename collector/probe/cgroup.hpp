// Limits of host memory that a container or a job scheduler has set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

namespace gpumem {

// `root` is "/" but in tests. "version" is 2, 1 or null; "levels" go from the process's own group up to the topmost
// that is seen from here, since each of them may have the limit that counts.
nlohmann::ordered_json cgroup_memory(const std::filesystem::path& root);

// How many processes the kernel has killed for want of memory in the group that this process is in, below `root`.
std::optional<std::uint64_t> group_kills(const std::filesystem::path& root);

}  // namespace gpumem
