#include "forensics/memory_group.hpp"

#include <charconv>
#include <cstring>
#include <string_view>

#include "forensics/read_file.hpp"

namespace gpumem {
namespace {

constexpr std::size_t longest_path = 640;

// "max", and where version 1 knows no limit a number that no memory has.
constexpr std::uint64_t beyond_all_memory = std::uint64_t{1} << 62;

// Paths that do not fit are empty, and no file is found there.
struct FilePath {
  char text[longest_path] = "";

  FilePath(std::string_view folder, std::string_view file) {
    if (folder.size() + 1 + file.size() >= sizeof text) return;
    std::memcpy(text, folder.data(), folder.size());
    text[folder.size()] = '/';
    std::memcpy(text + folder.size() + 1, file.data(), file.size());
  }
};

// substr() would throw where `from` is too far.
std::string_view rest_of(std::string_view text, std::size_t from) {
  text.remove_prefix(from);
  return text;
}

std::uint64_t number_in(std::string_view text) {
  std::uint64_t number = MemoryGroupState::unknown;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::uint64_t number_in_file(std::string_view folder, std::string_view file) {
  char text[32];
  return number_in({text, read_file(FilePath(folder, file).text, text, sizeof text)});
}

// Of lines of a name, a blank and a number.
std::uint64_t number_of(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.starts_with(name)) {
      const std::size_t digits = line.find_first_of("0123456789", name.size());
      return digits == std::string_view::npos ? MemoryGroupState::unknown : number_in(rest_of(line, digits));
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return MemoryGroupState::unknown;
}

std::uint64_t limit_of(std::string_view folder, bool is_version_2) {
  const std::uint64_t limit = number_in_file(folder, is_version_2 ? "memory.max" : "memory.limit_in_bytes");
  return limit >= beyond_all_memory ? MemoryGroupState::unknown : limit;
}

// Lines of /proc/self/cgroup are NUMBER:CONTROLLERS:PATH. Where memory has a hierarchy of its own, that one counts.
std::string_view path_in(std::string_view about, bool& is_version_2) {
  std::string_view path;
  while (!about.empty()) {
    const std::size_t end = about.find('\n');
    const std::string_view line = about.substr(0, end);
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second != std::string_view::npos) {
      const std::string_view controllers(line.data() + first + 1, second - first - 1);
      if (controllers == "memory" || controllers.starts_with("memory,") || controllers.ends_with(",memory") ||
          controllers.find(",memory,") != std::string_view::npos) {
        is_version_2 = false;
        return rest_of(line, second + 1);
      }
      if (controllers.empty()) path = rest_of(line, second + 1);
    }
    if (end == std::string_view::npos) break;
    about.remove_prefix(end + 1);
  }
  is_version_2 = true;
  return path;
}

}  // namespace

MemoryGroup find_memory_group(const char* root) {
  MemoryGroup group;
  char about[2048];
  const std::string_view text(about, read_file(FilePath(root, "proc/self/cgroup").text, about, sizeof about));
  std::string_view path = path_in(text, group.is_version_2);
  if (path.empty()) return group;
  const FilePath mount(root, group.is_version_2 ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
  const std::size_t mount_size = std::strlen(mount.text);
  char folder[sizeof group.folder];
  if (mount_size + path.size() >= sizeof folder) return group;
  std::memcpy(folder, mount.text, mount_size);
  std::memcpy(folder + mount_size, path.data(), path.size());
  std::string_view level(folder, mount_size + path.size());
  if (level.ends_with('/')) level.remove_suffix(1);
  std::uint64_t lowest = MemoryGroupState::unknown;
  // In a container the path can be one that only the host has; the topmost folder is its own group then.
  for (;;) {
    if (const std::uint64_t limit = limit_of(level, group.is_version_2); limit < lowest) {
      lowest = limit;
      std::memcpy(group.folder, level.data(), level.size());
      group.folder[level.size()] = '\0';
    }
    if (level.size() <= mount_size) return group;
    level = level.substr(0, level.rfind('/'));
  }
}

MemoryGroupState memory_group_state(const MemoryGroup& group) {
  MemoryGroupState state;
  if (group.folder[0] == '\0') return state;
  state.limit = limit_of(group.folder, group.is_version_2);
  state.used = number_in_file(group.folder, group.is_version_2 ? "memory.current" : "memory.usage_in_bytes");
  char text[512];
  const FilePath events(group.folder, group.is_version_2 ? "memory.events" : "memory.oom_control");
  state.kills = number_of({text, read_file(events.text, text, sizeof text)}, "oom_kill ");
  return state;
}

std::uint64_t available_memory() {
  char text[512];
  const std::uint64_t kibibytes = number_of({text, read_file("/proc/meminfo", text, sizeof text)}, "MemAvailable:");
  return kibibytes == MemoryGroupState::unknown ? kibibytes : kibibytes * 1024;
}

}  // namespace gpumem
