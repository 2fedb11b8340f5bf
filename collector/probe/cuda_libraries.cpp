#include "probe/cuda_libraries.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace gpumem {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t most_libraries = 128;

std::vector<fs::path> entries_of(const fs::path& folder, bool (*is_wanted)(const std::string&)) {
  std::vector<fs::path> found;
  std::error_code trouble;
  for (fs::directory_iterator entry(folder, trouble), end; !trouble && entry != end; entry.increment(trouble)) {
    if (is_wanted(entry->path().filename().string())) found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// An empty part is the working directory, as for the loader.
std::vector<fs::path> folders_in(const std::string& search_path) {
  std::vector<fs::path> folders;
  if (search_path.empty()) return folders;
  for (std::size_t begin = 0; begin <= search_path.size();) {
    const auto end = std::min(search_path.find_first_of(":;", begin), search_path.size());
    folders.emplace_back(end == begin ? "." : search_path.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

std::vector<fs::path> usual_folders(const fs::path& root) {
  std::vector<fs::path> folders;
  for (const char* name : {"usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib",
                           "usr/local/lib", "usr/lib/wsl/lib", "usr/local/nvidia/lib64"}) {
    folders.push_back(root / name);
  }
  for (const auto& toolkit :
       entries_of(root / "usr/local", [](const std::string& name) { return name.starts_with("cuda"); })) {
    for (const char* name : {"lib64", "compat"}) folders.push_back(toolkit / name);
  }
  return folders;
}

bool is_cuda_library(const std::string& name) { return name == "libcuda.so.1" || name.starts_with("libcudart.so."); }

}  // namespace

ordered_json cuda_libraries(const fs::path& root, const std::string& search_path) {
  auto folders = folders_in(search_path);
  for (auto& folder : usual_folders(root)) folders.push_back(std::move(folder));
  auto libraries = ordered_json::array();
  std::set<fs::path> told;
  for (const auto& folder : folders) {
    for (const auto& path : entries_of(folder, is_cuda_library)) {
      if (libraries.size() == most_libraries || !told.insert(path.lexically_normal()).second) continue;
      std::error_code trouble;
      const auto target = fs::canonical(path, trouble);
      libraries.push_back(
          {{"path", path.string()}, {"target", trouble ? ordered_json() : ordered_json(target.string())}});
    }
  }
  return libraries;
}

}  // namespace gpumem
