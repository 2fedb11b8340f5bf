// Reads the journal of one process, record by record, in the order of its lines, whatever segments of it are left.
//
// Holds one record at a time. Strict reading throws one error, naming file and line, at the first thing that no shim
// writes; what a killed process leaves behind (padding, torn lines, no end) is not such a thing. Lenient reading skips
// and counts instead, and throws only where nothing at all can be read.
//
// Where the events of segments are missing, a GapRecord comes, then the checkpoint of the segment after them with its
// call sites and blocks, then that segment's other lines. Of segments of which only the beginning is left come the
// checkpoint, the call sites, and what these refer to. A checkpoint that says nothing new does not come at all. One
// process line comes, the first.
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

using TakeRecord = std::function<void(const Record&)>;

// A reading that can go on where it stopped, while the process writes.
class JournalReading {
 public:
  // Of a journal that grows, a line that is half written is waited for once, from one read to the next.
  enum class Of { finished, growing };

  explicit JournalReading(Strictness how, Of journal = Of::finished) : how_(how), journal_(journal) {}

  // What has come since. `files` are those that are there now. Throws error as described above.
  void read(const JournalFiles& files, const TakeRecord& take);

  const SkippedLines& skipped() const { return skipped_; }
  std::uint64_t segments() const { return passed_; }  // that are there, or were

 private:
  void begin(std::uint64_t number, const std::filesystem::path& path, const TakeRecord& take);
  void go_on(std::uint64_t number, const std::filesystem::path& path, bool is_newest, const TakeRecord& take);
  void read_lines(std::uint64_t number, const std::filesystem::path& path, const TakeRecord& take);
  void read_beginning(const std::filesystem::path& path, const TakeRecord& take);
  void give_state(const std::filesystem::path& path, std::uint64_t last_block, const TakeRecord& take);
  void give(const Record& record, const TakeRecord& take);
  void give_gap(GapRecord gap, std::uint64_t up_to, const TakeRecord& take);

  Strictness how_;
  Of journal_;
  SkippedLines skipped_;
  std::uint64_t next_ = 0;             // the segment that goes on where the events have come to
  std::uint64_t passed_ = 0;           // segments below have been read or given up
  std::optional<std::uint64_t> open_;  // the segment that more may come of
  std::uint64_t offset_ = 0;           // in it
  bool has_waited_ = false;            // for the line there
  bool has_process_ = false;
  bool has_events_ = true;
  bool lists_blocks_ = true;   // what is live is known block by block
  std::uint64_t last_ns_ = 0;  // of the events
};

SkippedLines read_journal(const JournalFiles& files, Strictness how, const TakeRecord& take);

// Only the first line; nothing where it is no process line that this version can read.
std::optional<ProcessRecord> read_process_line(const JournalFiles& files);

}  // namespace gpumem
