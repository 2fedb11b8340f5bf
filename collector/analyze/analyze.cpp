#include "analyze/analyze.hpp"

#include <algorithm>

#include "analyze/calls_in_flight.hpp"
#include "analyze/error_codes.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

// Feeds each record of a journal to those who count it.
class Analyzer {
 public:
  explicit Analyzer(ProcessAnalysis& into)
      : into_(into), failures_([this](const TotalKey& key) { return live_.freed_bytes(key); }) {}

  void take(const Record& line) {
    std::visit(
        [this](const auto& value) {
          into_.last_ns = std::max(into_.last_ns, value.ns);
          marks_.pass(value.ns, live_);
          in_flight_.take(value);
          take(value);
        },
        line);
  }

  void add_marks(const std::vector<Mark>& all) { marks_.add(all); }

  // May be called again after more has come.
  void finish() {
    into_.totals = live_.totals();
    into_.allocated.clear();
    for (const auto& [key, site] : live_.sites()) into_.allocated[key.total] += site.allocated;
    into_.peaks = break_down_peaks(live_, into_.counters, at_peak_);
    into_.live_as_of = live_.lists_blocks() ? std::nullopt : std::optional(live_as_of_);
    into_.marks = marks_.moments(live_);
    into_.leaks = classify_leaks(live_, into_.last_ns);
    into_.context_drops = live_.context_drops();
    into_.unknown_frees = live_.unknown_frees();
    figures_.finish(live_);
    into_.figures = figures_.devices();
    into_.reservations = figures_.reservations();
    into_.untracked = live_.untracked();
    into_.failures = failures_.in_order();
    into_.in_flight = in_flight_.all();
  }

 private:
  void take(const ProcessRecord& line) {
    into_.process = line;
    if (!line.events) live_.restart(false);
  }
  void take(const StackRecord& line) { into_.stacks[line.id] = line; }
  void take(const PythonRecord& line) { into_.python_places[line.id] = line; }
  void take(const InterpreterRecord& line) { into_.interpreters[line.path] = line; }
  void take(const DeviceRecord& line) { into_.devices[line.device] = line; }

  void take(const ModuleRecord& line) {
    const auto [known, is_new] = into_.all_modules.try_emplace(line.id, line);
    if (is_new) return;
    ModuleRecord& module = known->second;
    if (line.path) module.path = line.path;
    if (line.build_id) module.build_id = line.build_id;
    if (line.role) module.role = line.role;
    if (line.asks) module.asks = std::max(line.asks, module.asks);
  }

  void take(const EventRecord& line) {
    ++into_.events;
    if (line.op == schema::op::context && line.context && line.device) contexts_[*line.context] = *line.device;
    if (line.op == schema::op::context_end && line.context) contexts_.erase(*line.context);
    if (line.op == schema::op::init && !into_.first_init) into_.first_init = line;
    if (line.op == schema::op::free && !line.block) note_unknown_free(line);
    figures_.take(line, live_);
    live_.take(line, into_.reached_its_end);
    failures_.take(line);
  }

  void take(const FailureRecord& line) {
    ++into_.failed_calls;
    std::optional<PointerHistory> pointer;
    if (line.tried == schema::op::free) {
      const bool shutting_down = deciding_code(line, into_.all_modules) == code_shutting_down;
      auto history = live_.take_failed_free(line, shutting_down);
      if (!shutting_down) pointer = std::move(history);
    }
    failures_.take(line, into_.reached_its_end);
    FailureGroup& group = failures_.latest();
    if (group.count > 1) return;
    for (const auto& [_, device] : contexts_) group.own_contexts.insert(device);
    group.pointer = std::move(pointer);
    if (line.tried == schema::op::alloc && line.device) note_device_state(group, *line.device);
    if (counts_of(line.kind) == Counts::host_memory && may_look_around()) group.held = live_.largest_in_host_memory();
  }

  void note_device_state(FailureGroup& group, DeviceOrdinal device) {
    const auto known = into_.devices.find(device);
    if (known != into_.devices.end()) group.device_total = known->second.total;
    if (!may_look_around()) return;
    group.held = live_.largest_on(device);
    group.layout = live_.layout_on(device, group.device_total.value_or(0));
  }

  // A program that fails for ever must not make us look around for ever.
  bool may_look_around() { return snapshots_++ < most_snapshots; }

  void note_unknown_free(const EventRecord& line) {
    if (into_.first_unknown_frees.size() == most_snapshots) return;
    into_.first_unknown_frees.push_back({line, live_.history_of(line)});
  }

  void take(const SampleRecord& line) {
    figures_.take(line, live_);
    failures_.take(line, line.device ? figures_.ledger(*line.device, live_) : 0);
  }

  void take(const StateRecord& line) { failures_.take(line); }
  void take(const ProbeRecord& line) { failures_.take(line); }

  void take(const CoverageRecord& line) {
    if (!line.seen) into_.passed_by.push_back(line);
  }

  void take(const TotalsRecord& line) {
    into_.counters = line;
    into_.reached_its_end |= line.at_end;
  }

  // What events told until here ends; the checkpoint that comes next says what has been.
  void take(const GapRecord& line) {
    live_.restart(line.lists_blocks);
    contexts_.clear();
    marks_.skip_to(line.ns);
    if (line.segments_missing == 0) return;
    into_.gaps.push_back({line.since_ns, line.ns, line.first_segment, line.segments_missing, false, 0, 0});
    is_after_gap_ = true;
  }

  void take(const CheckpointRecord& line) {
    live_.take(line);
    if (line.part == schema::part::end) return;
    at_peak_ = line.snapshots;
    if (is_after_gap_) count_missing(into_.gaps.back(), line);
    is_after_gap_ = false;
    for (const auto& context : line.contexts) {
      if (context.device) contexts_[context.number] = *context.device;
    }
  }

  void count_missing(MissingEvents& gap, const CheckpointRecord& line) {
    gap.is_bridged = true;
    std::uint64_t events = into_.events, failures = into_.failed_calls;
    for (const auto& each : into_.gaps) {
      events += each.events;
      failures += each.failures;
    }
    gap.events = line.events > events ? line.events - events : 0;
    gap.failures = line.failures > failures ? line.failures - failures : 0;
  }

  void take(const SiteRecord& line) {
    live_.take(line);
    if (!live_.lists_blocks()) live_as_of_ = line.ns;
  }

  void take(const LiveRecord& line) { live_.take(line); }
  void take(const MarkRecord& line) { marks_.add_told(line, live_); }
  void take(const HostRecord& line) { into_.host_memory.take(line); }

  static constexpr std::size_t most_snapshots = 64;

  ProcessAnalysis& into_;
  std::size_t snapshots_ = 0;
  LiveTable live_;
  DriverFigures figures_;
  FailureGroups failures_;
  CallsInFlight in_flight_;
  Marks marks_;
  std::vector<SumAtPeak> at_peak_;  // of the newest checkpoint
  std::uint64_t live_as_of_ = 0;
  bool is_after_gap_ = false;
  std::map<std::uint64_t, DeviceOrdinal> contexts_;  // that live
};

}  // namespace

const StackRecord* ProcessAnalysis::stack(std::uint64_t id) const {
  const auto found = stacks.find(id);
  return found == stacks.end() ? nullptr : &found->second;
}

bool ProcessAnalysis::misses_lines() const { return counters && counters->lost_lines > 0; }

bool ProcessAnalysis::misses_blocks() const { return untracked.blocks > 0 || (counters && counters->lost_blocks > 0); }

struct WatchState {
  explicit WatchState(Strictness how, JournalReading::Of journal) : reading(how, journal), all(result) {}

  void look(const JournalFiles& files) {
    result.journal = files.segments.front().string();
    const auto marks = read_marks(files.marks_file());
    all.add_marks(marks.marks);
    result.bad_marks = marks.bad_lines;
    reading.read(files, [this](const Record& line) { all.take(line); });
    result.skipped = reading.skipped();
    result.segments = reading.segments();
    all.finish();
    const auto status = read_status_file(files.status_file());
    result.end = judge_end(result.process, result.reached_its_end, files.replaced_by_exec, status);
    result.end.cut = result.skipped.cut && !result.reached_its_end;
    result.host_memory.shortage = shortage_at_end(result.host_memory, result.end, status);
  }

  ProcessAnalysis result;
  JournalReading reading;
  Analyzer all;
};

Watch::Watch() : state_(std::make_unique<WatchState>(Strictness::lenient, JournalReading::Of::growing)) {}
Watch::~Watch() = default;
Watch::Watch(Watch&&) noexcept = default;

const ProcessAnalysis& Watch::look(const JournalFiles& files) {
  state_->look(files);
  return state_->result;
}

ProcessAnalysis analyze(const JournalFiles& files, Strictness how) {
  WatchState state(how, JournalReading::Of::finished);
  state.look(files);
  return std::move(state.result);
}

}  // namespace gpumem
