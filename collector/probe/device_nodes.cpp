#include "probe/device_nodes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

namespace gpumem {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* capabilities = "nvidia-caps";

std::set<fs::path> found_in(const fs::path& folder, const std::string& beginning) {
  std::set<fs::path> found;
  std::error_code trouble;
  for (fs::directory_iterator entry(folder, trouble), end; !trouble && entry != end; entry.increment(trouble)) {
    if (entry->path().filename().string().starts_with(beginning)) found.insert(entry->path());
  }
  return found;
}

// Nodes that CUDA always needs are named even where they are missing.
std::set<fs::path> nodes_of(const fs::path& folder) {
  auto nodes = found_in(folder, "nvidia");
  nodes.erase(folder / capabilities);
  nodes.merge(found_in(folder / capabilities, "nvidia-cap"));
  for (const char* needed : {"nvidiactl", "nvidia-uvm", "nvidia0"}) nodes.insert(folder / needed);
  return nodes;
}

ordered_json octal(mode_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
  return text;
}

// As the driver's libraries open them: capabilities are only for reading.
ordered_json opened(const fs::path& node) {
  const bool is_capability = node.parent_path().filename() == capabilities;
  const int file = ::open(node.c_str(), (is_capability ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return ::strerrorname_np(errno);
  ::close(file);
  return "ok";
}

}  // namespace

ordered_json find_device_nodes(const fs::path& folder) {
  auto found = ordered_json::array();
  for (const auto& node : nodes_of(folder)) {
    struct stat about {};
    ordered_json facts = {{"path", node.string()}, {"exists", ::stat(node.c_str(), &about) == 0}};
    if (!facts["exists"]) {
      facts["open"] = ::strerrorname_np(errno);
    } else if (S_ISDIR(about.st_mode)) {
      continue;
    } else {
      facts["is_device"] = S_ISCHR(about.st_mode);
      facts["mode"] = octal(about.st_mode);
      facts["uid"] = about.st_uid;
      facts["gid"] = about.st_gid;
      facts["open"] = nullptr;
    }
    found.push_back(facts);
  }
  return found;
}

void tell_device_nodes(Findings& findings, const ordered_json& found) {
  findings.add("/nodes", found);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].at("exists")) continue;
    const auto path = found[i].at("path").get<std::string>();
    findings.doing("open " + path);
    findings.add("/nodes/" + std::to_string(i) + "/open", opened(path));
  }
}

}  // namespace gpumem
