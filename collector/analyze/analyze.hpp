// Everything that gpumem knows about one process: what every report, text or JSON, takes its numbers from.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/driver_figures.hpp"
#include "analyze/failure_groups.hpp"
#include "analyze/host_memory.hpp"
#include "analyze/leak_classes.hpp"
#include "analyze/live_table.hpp"
#include "analyze/marks.hpp"
#include "analyze/peaks.hpp"
#include "analyze/process_end.hpp"
#include "analyze/runtimes.hpp"
#include "model/journal_reader.hpp"
#include "model/journal_set.hpp"

namespace gpumem {

// A call that gave back what no recorded call had handed out, and succeeded.
struct UnknownFree {
  EventRecord call;
  PointerHistory pointer;
};

// Segments whose events are not there.
struct MissingEvents {
  std::uint64_t since_ns = 0;
  std::uint64_t until_ns = 0;
  std::uint64_t first_segment = 0;
  std::uint64_t segments = 0;
  bool is_bridged = false;   // what was live afterwards is known
  std::uint64_t events = 0;  // lines among them, where it is
  std::uint64_t failures = 0;
};

struct ProcessAnalysis {
  std::string journal;  // path of the first segment
  ProcessRecord process;
  ProcessEnd end;
  std::uint64_t last_ns = 0;  // latest time that any line bears

  Modules all_modules;
  PythonPlaces python_places;
  std::map<std::string, InterpreterRecord> interpreters;  // by path, as last told
  std::map<std::uint64_t, StackRecord> stacks;
  std::map<DeviceOrdinal, DeviceRecord> devices;
  std::map<DeviceOrdinal, DeviceFigures> figures;
  std::vector<Reservation> reservations;

  std::map<TotalKey, Total> totals;
  std::map<TotalKey, Usage> allocated;  // ever
  std::vector<PeakBreakdown> peaks;     // by device, largest first; host memory last
  std::vector<Leak> leaks;
  std::vector<ContextDrop> context_drops;
  std::vector<FailureGroup> failures;
  std::vector<EventRecord> in_flight;  // entered and not returned
  std::optional<EventRecord> first_init;
  std::vector<CoverageRecord> passed_by;  // where calls went, or may have gone, that the shim did not see

  std::uint64_t events = 0;
  std::uint64_t failed_calls = 0;
  std::uint64_t unknown_frees = 0;
  std::vector<UnknownFree> first_unknown_frees;
  Usage untracked;                       // allocated, and too many for the shim to keep track of: in no total
  bool reached_its_end = false;          // its exit handlers ran
  std::optional<TotalsRecord> counters;  // the newest counters
  SkippedLines skipped;
  HostMemory host_memory;
  std::vector<MissingEvents> gaps;
  std::uint64_t segments = 0;               // of the journal, there or not
  std::optional<std::uint64_t> live_as_of;  // what is live is only known for this time, as a sum for each call site
  std::vector<MarkedMoment> marks;          // in the order of their times
  std::uint64_t bad_marks = 0;

  const StackRecord* stack(std::uint64_t id) const;

  // What was live is then incomplete: lost lines may have been allocations or frees, lost blocks were allocations.
  bool misses_lines() const;
  bool misses_blocks() const;
};

// Reads the whole journal. Throws error as read_journal does.
ProcessAnalysis analyze(const JournalFiles& files, Strictness how);

struct WatchState;

// An analysis of a process that runs, which reads only what has come since the last time.
class Watch {
 public:
  Watch();
  ~Watch();
  Watch(Watch&&) noexcept;

  // Valid until the next call. Throws error as read_journal does, leniently.
  const ProcessAnalysis& look(const JournalFiles& files);

 private:
  std::unique_ptr<WatchState> state_;
};

}  // namespace gpumem
