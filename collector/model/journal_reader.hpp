// Reads the journal of one process, record by record, in the order of its lines.
//
// Holds one record at a time. Strict reading throws one error, naming file and line, at the first thing that no shim
// writes; what a killed process leaves behind (padding, torn lines, no end) is not such a thing. Lenient reading skips
// and counts instead, and throws only where nothing at all can be read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "model/journal_set.hpp"
#include "model/records.hpp"

namespace gpumem {

enum class Strictness { strict, lenient };

// What could not be turned into records.
struct SkippedLines {
  std::uint64_t torn = 0;     // half written when the process was killed
  std::uint64_t unknown = 0;  // of a type that this version does not know
  std::uint64_t invalid = 0;  // only in lenient reading
  std::string first_invalid;  // what was wrong with the first of them, with file and line
  bool cut = false;           // only in lenient reading: the file ends inside a line
};

SkippedLines read_journal(const JournalFiles& files, Strictness how, const std::function<void(const Record&)>& take);

// Only the first line; nothing where it is no process line that this version can read.
std::optional<ProcessRecord> read_process_line(const JournalFiles& files);

}  // namespace gpumem
