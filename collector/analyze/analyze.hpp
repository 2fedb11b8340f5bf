// Everything that gpumem knows about one process: what every report, text or JSON, takes its numbers from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/driver_figures.hpp"
#include "analyze/failure_groups.hpp"
#include "analyze/leak_classes.hpp"
#include "analyze/live_table.hpp"
#include "analyze/process_end.hpp"
#include "analyze/runtimes.hpp"
#include "model/journal_reader.hpp"
#include "model/journal_set.hpp"

namespace gpumem {

struct Share {
  std::uint64_t key = 0;  // stack for a call site, thread id for a thread
  Usage amount;
};

struct PeakBreakdown {
  TotalKey total;
  PeakMoment moment;
  std::vector<Share> by_stack;            // largest first
  std::vector<Share> by_thread;           // largest first
  std::optional<std::uint64_t> reported;  // the end line's peak, where it is higher than what the lines show

  std::uint64_t bytes() const { return reported.value_or(moment.bytes); }
};

// A call that gave back what no recorded call had handed out, and succeeded.
struct UnknownFree {
  EventRecord call;
  PointerHistory pointer;
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
  std::vector<PeakBreakdown> peaks;  // by device, largest first; host memory last
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

  const StackRecord* stack(std::uint64_t id) const;

  // What was live is then incomplete: lost lines may have been allocations or frees, lost blocks were allocations.
  bool misses_lines() const;
  bool misses_blocks() const;
};

// Reads the whole journal. Throws error as read_journal does.
ProcessAnalysis analyze(const JournalFiles& files, Strictness how);

}  // namespace gpumem
