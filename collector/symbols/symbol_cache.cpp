#include "symbols/symbol_cache.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "model/error.hpp"
#include "symbols/symbol_file.hpp"

namespace gpumem {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_folder = 256u << 20;
constexpr std::size_t most_addresses = 100'000;  // of one file; beyond them it begins anew

fs::path cache_file(const std::string& folder, const std::string& build_id) {
  const bool is_name = !build_id.empty() && build_id.find_first_not_of("0123456789abcdef") == std::string::npos;
  return folder.empty() || !is_name ? fs::path() : fs::path(folder) / (build_id + ".json");
}

void remove_oldest(const fs::path& folder) {
  struct Entry {
    fs::file_time_type used;
    std::uintmax_t size;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::uintmax_t total = 0;
  for (const auto& each : fs::directory_iterator(folder)) {
    entries.push_back({each.last_write_time(), each.file_size(), each.path()});
    total += entries.back().size;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const auto& each : entries) {
    if (total <= largest_folder) break;
    fs::remove(each.path);
    total -= each.size;
  }
}

}  // namespace

std::string symbol_cache_folder() {
  const char* chosen = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  fs::path base;
  if (chosen && *chosen == '/') {
    base = chosen;
  } else if (home && *home == '/') {
    base = fs::path(home) / ".cache";
  }
  return base.empty() ? "" : (base / "gpumem" / "symbols").string();
}

NamesOfFile read_symbol_cache(const std::string& folder, const std::string& build_id) {
  const auto file = cache_file(folder, build_id);
  if (file.empty()) return {};
  auto names = read_symbol_file(file);
  const auto found = names.find({"", build_id});
  if (found == names.end()) return {};
  std::error_code ignored;
  fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
  return std::move(found->second.frames);
}

void add_to_symbol_cache(const std::string& folder, const std::string& build_id, const NamesOfFile& names) {
  const auto file = cache_file(folder, build_id);
  if (file.empty() || names.empty()) return;
  try {
    fs::create_directories(folder);
    fs::permissions(folder, fs::perms::owner_all);
    NamesOfFile all = read_symbol_cache(folder, build_id);
    if (all.size() + names.size() > most_addresses) all.clear();
    all.insert(names.begin(), names.end());
    write_symbol_file(file, {{{"", build_id}, {std::move(all), ""}}});
    remove_oldest(folder);
  } catch (const std::runtime_error&) {
    // No folder, no room, or another process that clears up as well.
  }
}

}  // namespace gpumem
