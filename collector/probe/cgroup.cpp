#include "probe/cgroup.hpp"

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "probe/files.hpp"

namespace gpumem {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct Hierarchy {
  int version;
  std::string mount;  // below the root
  std::vector<const char*> files;
  const char* events;
  std::vector<const char*> cached;  // values of memory.stat
};

const Hierarchy unified{2,
                        "sys/fs/cgroup",
                        {"memory.max", "memory.high", "memory.current", "memory.peak", "memory.swap.max"},
                        "memory.events",
                        {"active_file", "inactive_file"}};
const Hierarchy separate{
    1,
    "sys/fs/cgroup/memory",
    {"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.max_usage_in_bytes", "memory.failcnt"},
    "memory.oom_control",
    {"total_active_file", "total_inactive_file"}};

struct Membership {
  const Hierarchy* hierarchy = nullptr;
  std::string group;
};

// Lines of /proc/self/cgroup are NUMBER:CONTROLLERS:PATH. Where memory has a hierarchy of its own, that one counts.
Membership membership_in(const std::string& text) {
  Membership found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers.find(",memory,") != std::string::npos) return {&separate, line.substr(second + 1)};
    if (controllers == ",,") found = {&unified, line.substr(second + 1)};
  }
  return found;
}

// Lines of a name and a count.
ordered_json counts_in(const fs::path& file) {
  const auto read = read_file(file);
  if (!read.text) return nullptr;
  auto counts = ordered_json::object();
  std::istringstream words(*read.text);
  std::string name;
  for (std::uint64_t count = 0; words >> name >> count;) counts[name] = count;
  return counts;
}

}  // namespace

ordered_json cgroup_memory(const fs::path& root) {
  const auto about = read_file(root / "proc/self/cgroup");
  const Membership own = membership_in(about.text.value_or(""));
  if (!own.hierarchy) return {{"version", nullptr}, {"group", nullptr}, {"levels", ordered_json::array()}};
  const fs::path mount = root / own.hierarchy->mount;
  fs::path folder = mount / fs::path(own.group).relative_path();
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) folder = mount;  // a container sees its own group as the topmost
  auto levels = ordered_json::array();
  for (;; folder = folder.parent_path()) {
    ordered_json level = {{"folder", folder.string()}};
    for (const char* name : own.hierarchy->files) {
      if (auto value = number_in(folder / name); !value.is_null()) level[name] = value;
    }
    if (auto events = counts_in(folder / own.hierarchy->events); !events.is_null()) level["events"] = events;
    const auto stat = counts_in(folder / "memory.stat");
    for (const char* name : own.hierarchy->cached) {
      if (stat.contains(name)) level["stat"][name] = stat[name];
    }
    levels.push_back(level);
    if (folder == mount || !folder.has_relative_path()) break;
  }
  return {{"version", own.hierarchy->version}, {"group", own.group}, {"levels", levels}};
}

std::optional<std::uint64_t> group_kills(const fs::path& root) {
  const auto levels = cgroup_memory(root)["levels"];
  if (levels.empty() || !levels[0].contains("events") || !levels[0]["events"].contains("oom_kill")) return std::nullopt;
  return levels[0]["events"]["oom_kill"].get<std::uint64_t>();
}

}  // namespace gpumem
