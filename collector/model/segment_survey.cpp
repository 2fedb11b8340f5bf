#include "model/segment_survey.hpp"

#include "model/error.hpp"
#include "model/line_splitter.hpp"
#include "model/record_parser.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

std::optional<Record> parse_quietly(std::string_view line) {
  try {
    return parse_record(line);
  } catch (const BadLine&) {
    return std::nullopt;
  }
}

bool has_gone(const std::filesystem::path& path) {
  std::error_code ignored;
  return !std::filesystem::exists(path, ignored);
}

void look_at(SegmentSurvey& survey, const CheckpointRecord& line) {
  if (line.part == schema::part::begin) survey.last_block = line.last_block;
  if (line.part == schema::part::end) survey.lists_blocks = line.blocks.has_value();
  if (line.part == schema::part::cut) survey.is_beginning = true;
}

}  // namespace

SegmentSurvey survey_segment(const std::filesystem::path& path) {
  SegmentSurvey survey;
  try {
    LineSplitter lines(path);
    while (const auto line = lines.next()) {
      // Few lines are worth to be parsed.
      if (survey.is_there && line->find(schema::line::checkpoint) == std::string_view::npos) continue;
      const auto record = parse_quietly(*line);
      if (!survey.is_there && record) std::visit([&](const LineHead& head) { survey.first_ns = head.ns; }, *record);
      survey.is_there = true;
      const auto* checkpoint = record ? std::get_if<CheckpointRecord>(&*record) : nullptr;
      if (checkpoint) look_at(survey, *checkpoint);
    }
  } catch (const Error&) {
    if (!has_gone(path)) throw;
  }
  return survey;
}

}  // namespace gpumem
