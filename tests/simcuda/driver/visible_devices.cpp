// SPDX-License-Identifier: Apache-2.0
#include "driver/visible_devices.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

namespace simcuda {
namespace {

std::optional<std::size_t> find_entry(const std::vector<device_description>& all, const std::string& entry) {
  const bool is_index =
      !entry.empty() && entry.size() < 10 && entry.find_first_not_of("0123456789") == std::string::npos;
  if (is_index) {
    const auto index = static_cast<std::size_t>(std::stoul(entry));
    return index < all.size() ? std::optional(index) : std::nullopt;
  }
  if (!entry.starts_with("GPU-")) return std::nullopt;
  std::optional<std::size_t> found;
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (!uuid_text(all[index].uuid).starts_with(entry)) continue;
    if (found) return std::nullopt;
    found = index;
  }
  return found;
}

}  // namespace

std::string uuid_text(const std::array<unsigned char, 16>& uuid) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text = "GPU-";
  for (std::size_t index = 0; index < uuid.size(); ++index) {
    if (index == 4 || index == 6 || index == 8 || index == 10) text += '-';
    text += digits[uuid[index] >> 4];
    text += digits[uuid[index] & 15];
  }
  return text;
}

std::vector<device_description> visible_devices(const std::vector<device_description>& all, const char* variable) {
  if (!variable) return all;
  std::vector<std::size_t> chosen;
  std::istringstream list(variable);
  for (std::string entry; std::getline(list, entry, ',');) {
    std::erase(entry, ' ');
    const auto found = find_entry(all, entry);
    if (!found || std::ranges::find(chosen, *found) != chosen.end()) break;
    chosen.push_back(*found);
  }
  std::vector<device_description> result;
  for (const std::size_t index : chosen) result.push_back(all[index]);
  return result;
}

}  // namespace simcuda
