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
          in_flight_.take(value);
          take(value);
        },
        line);
  }

  void finish() {
    into_.totals = live_.totals();
    for (const auto& [key, of] : live_.totals()) into_.peaks.push_back(break_down(key, of));
    take_reported_peaks();
    std::stable_sort(into_.peaks.begin(), into_.peaks.end(), [](const PeakBreakdown& a, const PeakBreakdown& b) {
      if (a.total.device != b.total.device) return shown_before(a.total, b.total);
      return a.bytes() > b.bytes();
    });
    into_.leaks = classify_leaks(live_, into_.last_ns);
    into_.context_drops = live_.context_drops();
    into_.unknown_frees = live_.unknown_frees();
    figures_.finish(live_);
    into_.figures = figures_.devices();
    into_.reservations = figures_.reservations();
    into_.untracked = live_.untracked();
    into_.failures = failures_.finish();
    into_.in_flight = in_flight_.finish();
  }

 private:
  void take(const ProcessRecord& line) { into_.process = line; }
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

  // The process counted on when it could not write or keep any more, so what it says at its end is the exact peak.
  void take_reported_peaks() {
    if (!into_.counters) return;
    for (const auto& reported : into_.counters->peaks) {
      const TotalKey key{reported.device, reported.kind};
      const auto seen = std::find_if(into_.peaks.begin(), into_.peaks.end(),
                                     [&key](const PeakBreakdown& each) { return each.total == key; });
      if (seen == into_.peaks.end()) {
        PeakBreakdown unseen;
        unseen.total = key;
        unseen.reported = reported.bytes;
        into_.peaks.push_back(std::move(unseen));
      } else if (seen->moment.bytes < reported.bytes) {
        seen->reported = reported.bytes;
      }
    }
  }

  PeakBreakdown break_down(const TotalKey& key, const Total& of) const {
    PeakBreakdown result;
    result.total = key;
    result.moment = of.peak;
    const SiteKey first{key, 0};
    for (auto site = live_.sites().lower_bound(first); site != live_.sites().end() && site->first.total == key;
         ++site) {
      add_share(result.by_stack, site->first.stack, site->second.live.at_peak(of.peaks));
    }
    for (const auto& [tid, live] : of.threads) {
      add_share(result.by_thread, static_cast<std::uint64_t>(tid), live.at_peak(of.peaks));
    }
    for (auto* shares : {&result.by_stack, &result.by_thread}) {
      std::stable_sort(shares->begin(), shares->end(),
                       [](const Share& a, const Share& b) { return a.amount.bytes > b.amount.bytes; });
    }
    return result;
  }

  static void add_share(std::vector<Share>& shares, std::uint64_t key, const Usage& amount) {
    if (amount.blocks > 0) shares.push_back({key, amount});
  }

  static constexpr std::size_t most_snapshots = 64;

  ProcessAnalysis& into_;
  std::size_t snapshots_ = 0;
  LiveTable live_;
  DriverFigures figures_;
  FailureGroups failures_;
  CallsInFlight in_flight_;
  std::map<std::uint64_t, DeviceOrdinal> contexts_;  // that live
};

}  // namespace

const StackRecord* ProcessAnalysis::stack(std::uint64_t id) const {
  const auto found = stacks.find(id);
  return found == stacks.end() ? nullptr : &found->second;
}

bool ProcessAnalysis::misses_lines() const { return counters && counters->lost_lines > 0; }

bool ProcessAnalysis::misses_blocks() const { return untracked.blocks > 0 || (counters && counters->lost_blocks > 0); }

ProcessAnalysis analyze(const JournalFiles& files, Strictness how) {
  ProcessAnalysis result;
  result.journal = files.segments.front().string();
  Analyzer all(result);
  result.skipped = read_journal(files, how, [&all](const Record& line) { all.take(line); });
  all.finish();
  result.end =
      judge_end(result.process, result.reached_its_end, files.replaced_by_exec, read_status_file(files.status_file()));
  result.end.cut = result.skipped.cut && !result.reached_its_end;
  return result;
}

}  // namespace gpumem
