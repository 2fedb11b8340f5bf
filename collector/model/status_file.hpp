// The sidecar that says how a process ended; written by the one who waited for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gpumem {

struct ExitRecord {
  std::int64_t pid = 0;
  std::vector<std::string> command;
  std::uint64_t started_ns = 0;  // wall clock
  std::uint64_t ended_ns = 0;    // wall clock
  std::optional<int> exit_status;
  std::optional<int> signal;
  std::optional<std::uint64_t> group_kills;  // in its memory control group, for want of memory, while it ran
};

// Nothing where the file is missing or is not such a sidecar.
std::optional<ExitRecord> read_status_file(const std::filesystem::path& path);

// Throws error where the file cannot be written.
void write_status_file(const std::filesystem::path& path, const ExitRecord& status);

}  // namespace gpumem
