#include "model/line_lookup.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/error.hpp"
#include "model/line_splitter.hpp"

namespace gpumem {
namespace {

std::optional<LineOfJournal> find_in(const std::set<LineOfJournal>& wanted, std::string_view line) {
  const auto object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  const auto found = std::find_if(wanted.begin(), wanted.end(), [&](const LineOfJournal& each) {
    const auto has = [&](const char* key, const auto& value) {
      const auto at = object.find(key);
      return at != object.end() && *at == value;
    };
    return has("t", each.type) && has("ns", each.ns) && has("tid", each.tid);
  });
  return found == wanted.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::map<LineOfJournal, std::string> find_lines(const JournalFiles& files, const std::set<LineOfJournal>& wanted) {
  std::map<LineOfJournal, std::string> found;
  std::set<std::string> times;
  for (const auto& each : wanted) times.insert("\"ns\":" + std::to_string(each.ns) + ",");
  for (const auto& segment : files.segments) {
    LineSplitter lines(segment);
    while (const auto line = lines.next()) {
      const bool may_be = std::any_of(times.begin(), times.end(),
                                      [&](const auto& time) { return line->find(time) != std::string_view::npos; });
      const auto which = may_be ? find_in(wanted, *line) : std::nullopt;
      if (which)
        found.emplace(*which, segment.string() + ":" + std::to_string(lines.line_number()) + ": " + std::string(*line));
    }
  }
  return found;
}

}  // namespace gpumem
