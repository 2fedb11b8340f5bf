// One line of a journal, from text to value.
//
// Reads liberally what docs/FORMAT.md lets vary (unknown keys, ops and kinds), and refuses what no shim writes.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "model/records.hpp"

namespace gpumem {

// What is wrong with a line, as the end of a sentence: `is not valid JSON`, `lacks the key "ns"`.
class BadLine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The line's schema is newer than this program.
class NewerSchema : public BadLine {
 public:
  using BadLine::BadLine;
};

// Nothing where the line's type is unknown to this version. Throws bad_line or newer_schema.
std::optional<Record> parse_record(std::string_view line);

}  // namespace gpumem
