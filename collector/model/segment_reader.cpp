#include "model/segment_reader.hpp"

#include "model/error.hpp"
#include "model/record_parser.hpp"

namespace gpumem {

void SegmentReader::read(const std::function<bool(const Record&)>& take) {
  while (const auto line = lines_.next()) {
    if (const auto parsed = parse(*line)) {
      if (expect_process_ && !std::holds_alternative<ProcessRecord>(*parsed)) refuse_first_line();
      expect_process_ = false;
      if (!take(*parsed)) return;
    } else if (expect_process_) {
      refuse_first_line();
    }
  }
  if (lines_.offset() == 0 && lines_.holds_no_bytes())
    throw NothingRecorded(path_.string() + " is empty; it is not a gpumem journal.");
  if (lines_.is_cut() && how_ == Strictness::strict) refuse_cut();
  if (expect_process_) refuse_first_line();
  skipped_.torn += lines_.torn_lines();
  skipped_.cut = skipped_.cut || lines_.is_cut();
}

std::optional<Record> SegmentReader::parse(std::string_view line) {
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
void SegmentReader::refuse_first_line() const {
  if (lines_.line_number() == 0) {
    throw NothingRecorded(path_.string() +
                          ":1: the file holds no whole line: it was cut, or its process was killed before it "
                          "wrote the first one; there is nothing to report.");
  }
  throw Error(here() + " is not the \"process\" line that every journal begins with; this is not a gpumem journal.");
}

void SegmentReader::refuse_cut() const {
  if (expect_process_) refuse_first_line();
  const auto whole = lines_.line_number();
  throw Error(path_.string() + " is cut off in line " + std::to_string(whole + 1) +
              " (the file ends inside it, so it was copied incompletely); use --lenient to read the " +
              std::to_string(whole) + (whole == 1 ? " line" : " lines") + " before it.");
}

std::string SegmentReader::here() const {
  return path_.string() + ":" + std::to_string(lines_.line_number()) + ": the line";
}

}  // namespace gpumem
