#include "analyze/analyze.hpp"

#include <algorithm>

#include "analyze/error_codes.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

// Feeds each record of a journal to those who count it.
class analyzer {
 public:
  explicit analyzer(process_analysis& into)
      : into_(into), failures_([this](const total_key& key) { return live_.freed_bytes(key); }) {}

  void take(const record& line) {
    std::visit(
        [this](const auto& value) {
          into_.last_ns = std::max(into_.last_ns, value.ns);
          entered_.erase(value.tid);
          take(value);
        },
        line);
  }

  void finish() {
    into_.totals = live_.totals();
    for (const auto& [key, of] : live_.totals()) into_.peaks.push_back(break_down(key, of));
    std::stable_sort(into_.peaks.begin(), into_.peaks.end(), [](const peak_breakdown& a, const peak_breakdown& b) {
      if (a.total.device != b.total.device) return shown_before(a.total, b.total);
      return a.moment.bytes > b.moment.bytes;
    });
    into_.leaks = classify_leaks(live_, into_.last_ns);
    into_.context_drops = live_.context_drops();
    into_.unknown_frees = live_.unknown_frees();
    for (auto& group : failures_.finish()) {
      auto why = diagnose(group, {into_.process, into_.all_modules});
      into_.failures.push_back({std::move(group), std::move(why)});
    }
    for (auto& [_, begin] : entered_) into_.in_flight.push_back(std::move(begin));
  }

 private:
  void take(const process_record& line) { into_.process = line; }
  void take(const stack_record& line) { into_.stacks[line.id] = line; }
  void take(const device_record& line) { into_.devices[line.device] = line; }

  void take(const module_record& line) {
    const auto [known, is_new] = into_.all_modules.try_emplace(line.id, line);
    if (is_new) return;
    module_record& module = known->second;
    if (line.path) module.path = line.path;
    if (line.build_id) module.build_id = line.build_id;
    if (line.role) module.role = line.role;
    if (line.asks) module.asks = std::max(line.asks, module.asks);
  }

  void take(const event_record& line) {
    ++into_.events;
    if (line.op == schema::op::begin) entered_.insert_or_assign(line.tid, line);
    if (line.op == schema::op::init && !into_.first_init) into_.first_init = line;
    live_.take(line, into_.end_line.has_value());
    failures_.take(line);
  }

  void take(const failure_record& line) {
    ++into_.failed_calls;
    if (line.tried == schema::op::free) {
      live_.take_failed_free(line, deciding_code(line, into_.all_modules) == code_shutting_down);
    }
    failures_.take(line, into_.end_line.has_value());
  }

  void take(const sample_record& line) {
    into_.last_samples[line.device] = line;
    failures_.take(line);
  }

  void take(const end_record& line) { into_.end_line = line; }

  peak_breakdown break_down(const total_key& key, const total& of) const {
    peak_breakdown result{key, of.peak, {}, {}};
    const site_key first{key, 0};
    for (auto site = live_.sites().lower_bound(first); site != live_.sites().end() && site->first.total == key;
         ++site) {
      add_share(result.by_stack, site->first.stack, site->second.live.at_peak(of.peaks));
    }
    for (const auto& [tid, live] : of.threads) {
      add_share(result.by_thread, static_cast<std::uint64_t>(tid), live.at_peak(of.peaks));
    }
    for (auto* shares : {&result.by_stack, &result.by_thread}) {
      std::stable_sort(shares->begin(), shares->end(),
                       [](const share& a, const share& b) { return a.amount.bytes > b.amount.bytes; });
    }
    return result;
  }

  static void add_share(std::vector<share>& shares, std::uint64_t key, const usage& amount) {
    if (amount.blocks > 0) shares.push_back({key, amount});
  }

  process_analysis& into_;
  live_table live_;
  failure_groups failures_;
  std::map<std::int64_t, event_record> entered_;
};

}  // namespace

const stack_record* process_analysis::stack(std::uint64_t id) const {
  const auto found = stacks.find(id);
  return found == stacks.end() ? nullptr : &found->second;
}

process_analysis analyze(const journal_files& files, strictness how) {
  process_analysis result;
  result.journal = files.segments.front().string();
  analyzer all(result);
  result.skipped = read_journal(files, how, [&all](const record& line) { all.take(line); });
  all.finish();
  result.end = judge_end(result.process, result.end_line.has_value(), files.replaced_by_exec,
                         read_status_file(files.status_file()));
  return result;
}

}  // namespace gpumem
