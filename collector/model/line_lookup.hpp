// Finds single lines of a journal again, as they stand in the file.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "model/journal_set.hpp"

namespace gpumem {

// Type, time and thread name a line.
struct LineOfJournal {
  std::string_view type;  // of the names in schema.hpp
  std::uint64_t ns = 0;
  std::int64_t tid = 0;
  auto operator<=>(const LineOfJournal&) const = default;
};

// The lines that are there, with "FILE:NUMBER: " before each.
std::map<LineOfJournal, std::string> find_lines(const JournalFiles& files, const std::set<LineOfJournal>& wanted);

}  // namespace gpumem
