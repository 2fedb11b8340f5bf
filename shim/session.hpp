// One process's recording: everything that begins with its first CUDA call and ends with it.
//
// The only place that knows everything: it starts the journal, notices fork and exit, and speaks to the user.
// A forked child has a session of its own from its own first CUDA call on; its parent's is never touched again there.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/monotonic_clock.hpp"
#include "checkpoint_state.hpp"
#include "forensics/memory_group.hpp"
#include "forensics/process_facts.hpp"
#include "journal/journal.hpp"
#include "journal/records.hpp"
#include "journal/standing_lines.hpp"
#include "stack/module_table.hpp"
#include "stack/python/python_stack.hpp"
#include "stack/stack_table.hpp"
#include "stack/unwinder.hpp"
#include "track/contexts.hpp"
#include "track/live_table.hpp"
#include "track/picture_limits.hpp"
#include "track/sites.hpp"
#include "track/totals.hpp"

namespace gpumem {

struct Session {
  std::uint32_t epoch = 0;  // of the process that it belongs to
  bool usable = false;      // false: recording could not start, everything passes through
  std::uint64_t start_ns = 0;
  std::uint64_t wall_ns = 0;  // wall clock at the start
  unsigned journal_number = 0;
  ProcessFacts facts;
  MemoryGroup memory_group;

  Journal journal;
  LiveTable live;
  Totals totals;
  Sites sites;
  Contexts contexts;
  StackTable stacks;
  ModuleTable modules;
  PlaceTable places;

  std::atomic<std::uint64_t> events{0}, failures{0}, last_block{0};
  std::atomic<std::uint64_t> lost_lines{0}, lost_blocks{0}, lost_stacks{0};
  std::atomic<std::uint64_t> stacks_by[stack_source_count] = {};  // how they were captured, by StackSource
  std::atomic<std::uint64_t> stacks_checked{0}, stacks_wrong{0};  // GPUMEM_VERIFY_STACKS

  std::array<std::atomic<std::uint64_t>, python_state_count> python_stacks{};  // by what became of the Python part
  std::atomic<unsigned> interpreter_news{0};                                   // those that have been written

  std::atomic<bool> failed_before{false};  // some call has failed
  std::atomic<bool> context_seen{false};   // CUDA has started
  std::atomic<bool> initialized{false};    // cuInit has succeeded
  struct {
    std::atomic<bool> known{false};  // the rest is that of the event of cuInit's success
    ApiId api = ApiId::none;
    std::uint64_t ns = 0;
    std::uint32_t stack = 0;
  } start_of_cuda;
  std::atomic<bool> devices_counted{false};
  std::atomic<bool> passed_by{false};  // calls of CUDA are known to have been made unseen
  bool inherited_driver = false;       // forked from a process that had started CUDA: the driver must not be asked

  // Bit per device (the last for calls that name none) and function: a start that has succeeded once.
  std::array<std::atomic<std::uint64_t>, api_count> started{};
  std::array<std::atomic<bool>, api_count> entered{};  // an entry of the function has been written
  std::atomic<std::uint64_t> contexts_used{0};         // bit per context number below 64

  std::atomic<std::uint64_t> launches{0};
  std::atomic<int> open_captures{0};
  std::atomic<std::uint64_t> last_sample_ns{0}, last_host_ns{0};  // monotonic
  std::atomic<std::uint64_t> totals_due_ns{0};                    // 0: for the first time
  static constexpr int tracked_devices = 64;  // what follows has a bit or a slot for each of the first
  std::atomic<std::uint64_t> pool_users{0}, graph_memory_users{0};
  std::array<std::atomic<std::uint64_t>, tracked_devices> chosen_pools{};

  std::atomic<std::uint64_t> devices_written{0};  // bit per ordinal below 64
  std::atomic<unsigned> providers_written{0}, runtimes_written{0};

  std::atomic<std::uint64_t> marks_in_second{0}, lost_marks{0};

  PictureLimits picture_limits;
  CheckpointState checkpoint;
  StandingLines standing;

  // LongLine's: a thread's stack can be as small as 16 KiB.
  SpinLock long_line_lock;
  char long_line[24 * 1024];

  bool has_started(ApiId api, int device) const;
  bool first_start(ApiId api, int device);   // true once
  bool first_entry(ApiId api);               // true once
  bool first_use_of(std::uint32_t context);  // true once for each of the first contexts

  // The pool that the program chose for the device's streams: its number, or 0 for the default one.
  std::uint64_t current_pool(int device) const;
  void set_current_pool(int device, std::uint64_t number);
  void forget_pool(std::uint64_t number);  // it has gone: the default one is current again

  // Whether stream-ordered memory, or memory for graphs, of the device has been used.
  void note_pool_use(int device);
  bool uses_pool(int device) const;
  void note_graph_memory(int device);
  bool uses_graph_memory(int device) const;
  bool uses_graph_memory() const { return graph_memory_users.load(std::memory_order_relaxed) != 0; }

  // Whether the last sample, of the device's memory or the host's, is GPUMEM_SAMPLE_EVERY ago.
  bool sample_due(std::uint64_t now_ns) const { return is_due(last_sample_ns, now_ns); }
  bool host_sample_due(std::uint64_t now_ns) const { return is_due(last_host_ns, now_ns); }
  void note_sample(std::uint64_t now_ns) { last_sample_ns.store(now_ns, std::memory_order_relaxed); }
  void note_host_sample(std::uint64_t now_ns) { last_host_ns.store(now_ns, std::memory_order_relaxed); }

  // The counters, as a line of their own: at the end, and for processes that do not come to it after ten times
  // GPUMEM_SAMPLE_EVERY and whenever their age has doubled since.
  void write_totals(std::string_view type, Journal::Importance importance);
  void write_totals_if_due(std::uint64_t now_ns);

  Stamp stamp() const;
  std::uint32_t thread() const;
  // With `expected`, only into that segment: false where another one has begun, too.
  bool write(const Line& line, Journal::Importance importance = Journal::Importance::ordinary,
             std::uint32_t expected = Journal::any_segment);
  // Whether the driver may be asked anything now.
  bool driver_usable() const;

 private:
  bool is_due(const std::atomic<std::uint64_t>& last_ns, std::uint64_t now_ns) const;
};

// This process's session, started if need be. nullptr where recording is off. May be called in any thread, not in a
// signal handler that interrupted the shim.
Session* session();

// The same, but where none has been started yet, none is.
Session* started_session();

// Whether exit handlers run, or have run.
bool process_is_exiting();

}  // namespace gpumem
