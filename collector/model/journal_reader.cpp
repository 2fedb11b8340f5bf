#include "model/journal_reader.hpp"

#include <filesystem>

#include "model/error.hpp"
#include "model/line_splitter.hpp"
#include "model/record_parser.hpp"

namespace gpumem {
namespace {

class SegmentReader {
 public:
  SegmentReader(const std::filesystem::path& path, Strictness how, SkippedLines& skipped)
      : path_(path), how_(how), skipped_(skipped), lines_(path) {}

  void read(bool is_first_segment, const std::function<void(const Record&)>& take) {
    bool expect_process = is_first_segment;
    while (const auto line = lines_.next()) {
      if (const auto parsed = parse(*line)) {
        if (expect_process && !std::holds_alternative<ProcessRecord>(*parsed)) refuse_first_line();
        expect_process = false;
        take(*parsed);
      } else if (expect_process) {
        refuse_first_line();
      }
    }
    if (lines_.holds_no_bytes()) throw NothingRecorded(path_.string() + " is empty; it is not a gpumem journal.");
    if (lines_.is_cut() && how_ == Strictness::strict) refuse_cut(expect_process);
    if (expect_process) refuse_first_line();
    skipped_.torn += lines_.torn_lines();
    skipped_.cut = skipped_.cut || lines_.is_cut();
  }

 private:
  std::optional<Record> parse(std::string_view line) {
    try {
      auto parsed = parse_record(line);
      if (!parsed) ++skipped_.unknown;
      return parsed;
    } catch (const NewerSchema& trouble) {
      throw Error(here() + " " + trouble.what() + ".");
    } catch (const BadLine& trouble) {
      const std::string what = here() + " " + trouble.what();
      if (how_ == Strictness::strict) {
        throw Error(what + (lines_.line_number() == 1 ? "; this is not a gpumem journal."
                                                      : "; use --lenient to skip such lines."));
      }
      if (skipped_.invalid++ == 0) skipped_.first_invalid = what;
      return std::nullopt;
    }
  }

  // A journal whose first line cannot be read does not even say which process it belongs to.
  [[noreturn]] void refuse_first_line() const {
    if (lines_.line_number() == 0) {
      throw NothingRecorded(path_.string() +
                            ":1: the file holds no whole line: it was cut, or its process was killed before it "
                            "wrote the first one; there is nothing to report.");
    }
    throw Error(here() + " is not the \"process\" line that every journal begins with; this is not a gpumem journal.");
  }

  [[noreturn]] void refuse_cut(bool expect_process) const {
    if (expect_process) refuse_first_line();
    const auto whole = lines_.line_number();
    throw Error(path_.string() + " is cut off in line " + std::to_string(whole + 1) +
                " (the file ends inside it, so it was copied incompletely); use --lenient to read the " +
                std::to_string(whole) + (whole == 1 ? " line" : " lines") + " before it.");
  }

  std::string here() const { return path_.string() + ":" + std::to_string(lines_.line_number()) + ": the line"; }

  std::filesystem::path path_;
  Strictness how_;
  SkippedLines& skipped_;
  LineSplitter lines_;
};

}  // namespace

SkippedLines read_journal(const JournalFiles& files, Strictness how, const std::function<void(const Record&)>& take) {
  SkippedLines skipped;
  bool is_first = true;
  for (const auto& segment : files.segments) {
    SegmentReader(segment, how, skipped).read(is_first, take);
    is_first = false;
  }
  return skipped;
}

std::optional<ProcessRecord> read_process_line(const JournalFiles& files) {
  try {
    LineSplitter lines(files.segments.front());
    const auto line = lines.next();
    const auto parsed = line ? parse_record(*line) : std::nullopt;
    if (parsed && std::holds_alternative<ProcessRecord>(*parsed)) return std::get<ProcessRecord>(*parsed);
  } catch (const std::runtime_error&) {
    // Whoever wants to know what is wrong reads the journal as a whole.
  }
  return std::nullopt;
}

}  // namespace gpumem
