#include "model/line_lookup.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/error.hpp"
#include "model/line_splitter.hpp"

namespace gpumem {
namespace {

// The number behind the first "ns" of the line.
std::optional<std::uint64_t> time_of(std::string_view line) {
  constexpr std::string_view key = "\"ns\":";
  const auto at = line.find(key);
  std::uint64_t ns = 0;
  if (at == std::string_view::npos) return std::nullopt;
  const char* const first = line.data() + at + key.size();
  return std::from_chars(first, line.data() + line.size(), ns).ec == std::errc() ? std::optional(ns) : std::nullopt;
}

std::optional<LineOfJournal> find_in(const std::vector<LineOfJournal>& wanted, std::string_view line) {
  const auto object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  const auto found = std::find_if(wanted.begin(), wanted.end(), [&](const LineOfJournal& each) {
    const auto has = [&](const char* key, const auto& value) {
      const auto at = object.find(key);
      return at != object.end() && *at == value;
    };
    return has("t", each.type) && has("tid", each.tid);
  });
  return found == wanted.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::map<LineOfJournal, std::string> find_lines(const JournalFiles& files, const std::set<LineOfJournal>& wanted) {
  std::map<LineOfJournal, std::string> found;
  std::unordered_map<std::uint64_t, std::vector<LineOfJournal>> by_time;
  for (const auto& each : wanted) by_time[each.ns].push_back(each);
  for (const auto& segment : files.segments) {
    LineSplitter lines(segment);
    while (const auto line = lines.next()) {
      const auto ns = time_of(*line);
      const auto candidates = ns ? by_time.find(*ns) : by_time.end();
      if (candidates == by_time.end()) continue;
      const auto which = find_in(candidates->second, *line);
      if (which)
        found.emplace(*which, segment.string() + ":" + std::to_string(lines.line_number()) + ": " + std::string(*line));
    }
  }
  return found;
}

}  // namespace gpumem
