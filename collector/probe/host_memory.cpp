#include "probe/host_memory.hpp"

#include <cstdint>
#include <sstream>
#include <string>

#include "probe/files.hpp"

namespace gpumem {
namespace {

using nlohmann::ordered_json;

// Lines are NAME: COUNT kB.
ordered_json bytes_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + ":")) continue;
    std::uint64_t kib = 0;
    if (std::istringstream(line.substr(name.size() + 1)) >> kib) return kib * 1024;
  }
  return nullptr;
}

}  // namespace

ordered_json host_memory(const std::filesystem::path& root) {
  const auto file = read_file(root / "proc/meminfo");
  const std::string text = file.text.value_or("");
  return {{"total_bytes", bytes_of(text, "MemTotal")},
          {"available_bytes", bytes_of(text, "MemAvailable")},
          {"swap_free_bytes", bytes_of(text, "SwapFree")},
          {"overcommit", number_in(root / "proc/sys/vm/overcommit_memory")},
          {"commit_limit_bytes", bytes_of(text, "CommitLimit")},
          {"committed_bytes", bytes_of(text, "Committed_AS")},
          {"reason", file.reason ? ordered_json(file.reason) : ordered_json()}};
}

}  // namespace gpumem
