#include "model/journal_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <type_traits>

#include "model/error.hpp"
#include "model/line_splitter.hpp"
#include "model/record_parser.hpp"
#include "model/segment_reader.hpp"
#include "model/segment_survey.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

namespace fs = std::filesystem;

bool is_cut_line(const Record& record) {
  const auto* line = std::get_if<CheckpointRecord>(&record);
  return line && line->part == schema::part::cut;
}

std::uint64_t time_of(const Record& record) {
  return std::visit([](const LineHead& head) { return head.ns; }, record);
}

template <class... Types>
bool is_one_of(const Record& record) {
  return (std::holds_alternative<Types>(record) || ...);
}

}  // namespace

void JournalReading::read(const JournalFiles& files, const TakeRecord& take) {
  for (const auto& path : files.segments) {
    const std::uint64_t number = segment_number(path);
    if (open_ && number > *open_) {
      next_ = *open_;  // it has been taken away before all of it was read
      open_.reset();
    }
    if (open_ && number == *open_) {
      go_on(number, path, path == files.segments.back(), take);
    } else if (number >= passed_) {
      begin(number, path, take);
      if (path != files.segments.back()) open_.reset();
    }
  }
  if (journal_ == Of::finished && passed_ > next_) give_gap({}, passed_, take);
}

void JournalReading::begin(std::uint64_t number, const fs::path& path, const TakeRecord& take) {
  SegmentSurvey survey;
  if (number > 0) {
    survey = survey_segment(path);
    if (!survey.is_there) return;
  }
  passed_ = number + 1;
  if (survey.is_beginning) return read_beginning(path, take);
  const bool lists_blocks_again = has_events_ && !lists_blocks_ && survey.lists_blocks;
  if (number != next_ || lists_blocks_again) {
    GapRecord gap;
    gap.ns = survey.first_ns;
    gap.lists_blocks = survey.lists_blocks;
    give_gap(gap, number, take);
    if (lists_blocks_) give_state(path, survey.last_block, take);
  }
  next_ = number + 1;
  open_ = number;
  offset_ = 0;
  has_waited_ = false;
  read_lines(number, path, take);
}

void JournalReading::go_on(std::uint64_t number, const fs::path& path, bool is_newest, const TakeRecord& take) {
  if (number > 0 && !is_newest) {
    const auto survey = survey_segment(path);
    if (!survey.is_there || survey.is_beginning) {
      next_ = number;
      open_.reset();
      return;
    }
  }
  read_lines(number, path, take);
  if (!is_newest) open_.reset();
}

void JournalReading::read_lines(std::uint64_t number, const fs::path& path, const TakeRecord& take) {
  const bool waits = journal_ == Of::growing && !has_waited_;
  bool is_cut = false;
  SegmentReader reader(path, how_, skipped_, offset_, waits ? LineSplitter::Torn::wait : LineSplitter::Torn::skip);
  reader.read([&](const Record& record) {
    is_cut = is_cut_line(record);
    if (!is_cut) give(record, take);
    return !is_cut;
  });
  offset_ = reader.lines().offset();
  has_waited_ = reader.lines().is_waiting();
  if (!is_cut) return;
  next_ = number;  // it was cut while it was being read
  open_.reset();
}

// Of a segment whose events have gone.
void JournalReading::read_beginning(const fs::path& path, const TakeRecord& take) {
  SegmentReader(path, how_, skipped_).read([&](const Record& record) {
    if (is_cut_line(record)) return false;
    if (std::holds_alternative<ProcessRecord>(record)) {
      give(record, take);
    } else if (is_one_of<ModuleRecord, PythonRecord, StackRecord, DeviceRecord, InterpreterRecord, CheckpointRecord,
                         SiteRecord>(record)) {
      take(record);
    }
    return true;
  });
}

// What the checkpoint of a segment says, wherever in the segment its lines stand.
void JournalReading::give_state(const fs::path& path, std::uint64_t last_block, const TakeRecord& take) {
  SkippedLines counted_later;
  SegmentReader(path, Strictness::lenient, counted_later).read([&](const Record& record) {
    if (const auto* live = std::get_if<LiveRecord>(&record)) {
      // Newer blocks have lines of their own, or were never handed out.
      LiveRecord known = *live;
      std::erase_if(known.blocks, [last_block](const ListedBlock& block) { return block.number > last_block; });
      take(known);
    } else if (is_one_of<CheckpointRecord, SiteRecord>(record)) {
      take(record);
    }
    return true;
  });
}

void JournalReading::give_gap(GapRecord gap, std::uint64_t up_to, const TakeRecord& take) {
  gap.since_ns = last_ns_;
  gap.ns = std::max(gap.ns, last_ns_);
  gap.first_segment = next_;
  gap.segments_missing = up_to - next_;
  next_ = up_to;
  lists_blocks_ = gap.lists_blocks;
  take(gap);
}

void JournalReading::give(const Record& record, const TakeRecord& take) {
  if (const auto* process = std::get_if<ProcessRecord>(&record)) {
    if (has_process_) return;
    has_process_ = true;
    has_events_ = process->events;
  }
  if (std::holds_alternative<LiveRecord>(record)) return;
  const bool is_known_from_events = has_events_ && lists_blocks_;
  if (is_known_from_events && is_one_of<CheckpointRecord, SiteRecord>(record)) return;
  last_ns_ = std::max(last_ns_, time_of(record));
  take(record);
}

SkippedLines read_journal(const JournalFiles& files, Strictness how, const TakeRecord& take) {
  JournalReading reading(how);
  reading.read(files, take);
  return reading.skipped();
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
