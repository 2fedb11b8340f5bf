// Reads one file of a journal, record by record.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "model/journal_reader.hpp"
#include "model/line_splitter.hpp"

namespace gpumem {

class SegmentReader {
 public:
  // From byte `offset`, where a line begins. `skipped` is added to. Throws error where it cannot be opened.
  SegmentReader(const std::filesystem::path& path, Strictness how, SkippedLines& skipped, std::uint64_t offset = 0,
                LineSplitter::Torn torn = LineSplitter::Torn::skip)
      : path_(path), how_(how), skipped_(skipped), expect_process_(offset == 0), lines_(path, offset, torn) {}

  // Until the end, or `take` returns false. Throws error; NothingRecorded where there is no whole line.
  void read(const std::function<bool(const Record&)>& take);

  const LineSplitter& lines() const { return lines_; }

 private:
  std::optional<Record> parse(std::string_view line);
  [[noreturn]] void refuse_first_line() const;
  [[noreturn]] void refuse_cut() const;
  std::string here() const;

  std::filesystem::path path_;
  Strictness how_;
  SkippedLines& skipped_;
  bool expect_process_;
  LineSplitter lines_;
};

}  // namespace gpumem
