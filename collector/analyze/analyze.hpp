// Everything that gpumem knows about one process: what every report, text or JSON, takes its numbers from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/diagnosis.hpp"
#include "analyze/failure_groups.hpp"
#include "analyze/leak_classes.hpp"
#include "analyze/live_table.hpp"
#include "analyze/process_end.hpp"
#include "analyze/runtimes.hpp"
#include "model/journal_reader.hpp"
#include "model/journal_set.hpp"

namespace gpumem {

struct share {
  std::uint64_t key = 0;  // stack for a call site, thread id for a thread
  usage amount;
};

struct peak_breakdown {
  total_key total;
  peak_moment moment;
  std::vector<share> by_stack;   // largest first
  std::vector<share> by_thread;  // largest first
};

struct explained_failure {
  failure_group group;
  diagnosis why;
};

struct process_analysis {
  std::string journal;  // path of the first segment
  process_record process;
  process_end end;
  std::uint64_t last_ns = 0;  // latest time that any line bears

  modules all_modules;
  std::map<std::uint64_t, stack_record> stacks;
  std::map<device_ordinal, device_record> devices;
  std::map<device_ordinal, sample_record> last_samples;

  std::map<total_key, total> totals;
  std::vector<peak_breakdown> peaks;  // by device, largest first; host memory last
  std::vector<leak> leaks;
  std::vector<context_drop> context_drops;
  std::vector<explained_failure> failures;
  std::vector<event_record> in_flight;  // entered and not returned
  std::optional<event_record> first_init;

  std::uint64_t events = 0;
  std::uint64_t failed_calls = 0;
  std::uint64_t unknown_frees = 0;
  std::optional<end_record> end_line;
  skipped_lines skipped;

  const stack_record* stack(std::uint64_t id) const;
};

// Reads the whole journal. Throws error as read_journal does.
process_analysis analyze(const journal_files& files, strictness how);

}  // namespace gpumem
