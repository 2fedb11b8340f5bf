#include "analyze/failure_groups.hpp"

#include <algorithm>

#include "analyze/error_codes.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

// Of one thread and total: a program that asks for ever new sizes must not make each failure dearer.
constexpr std::size_t most_open = 64;

bool within_a_gap(std::uint64_t earlier, std::uint64_t later) {
  return later <= earlier + FailureGroup::longest_gap_ns;
}

}  // namespace

std::size_t FailureGroups::add_group(const FailureRecord& failure, bool after_end) {
  FailureGroup group;
  group.first = failure;
  group.after_end = after_end;
  group.probe = latest_probe_;
  constexpr std::uint64_t same_moment_ns = 50'000'000;
  const auto figures = failure.device ? latest_figures_.find(*failure.device) : latest_figures_.end();
  if (figures != latest_figures_.end() && failure.ns < figures->second.first.ns + same_moment_ns) {
    group.driver = figures->second.first;
    group.ledger = figures->second.second;
  }
  groups_.push_back(std::move(group));
  return groups_.size() - 1;
}

void FailureGroups::take(const FailureRecord& failure, bool after_end) {
  const bool is_alloc = failure.tried == schema::op::alloc;
  if (is_alloc && !failure.start && returned_out_of_memory(failure)) {
    take_retry(failure, after_end);
  } else {
    const OtherKey key{failure.tried,
                       failure.api,
                       failure.code,
                       failure.in_code.value_or(0),
                       failure.start,
                       failure.stack,
                       {failure.device, failure.kind},
                       is_alloc ? failure.bytes : 0};
    const auto [found, is_new] = others_.try_emplace(key, 0);
    if (is_new) found->second = add_group(failure, after_end);
    latest_ = found->second;
  }
  latest_of_thread_[failure.tid] = *latest_;
  FailureGroup& group = groups_[*latest_];
  ++group.count;
  group.last_ns = std::max(group.last_ns, failure.ns);
  group.last_bytes = failure.bytes;
  group.first.first = group.first.first || failure.first;
}

void FailureGroups::forget_old(OpenGroups& open, std::uint64_t now) const {
  std::erase_if(open, [&](const OpenGroup& each) { return !within_a_gap(groups_[each.index].last_ns, now); });
}

bool FailureGroups::goes_on_with(const FailureGroup& group, const FailureRecord& failure) const {
  const FailureRecord& first = group.first;
  const bool is_same_call = first.stack == failure.stack && first.api == failure.api && first.code == failure.code &&
                            first.in_code == failure.in_code;
  // A step down to less than half is another request, not the same one made smaller.
  const bool is_step_down = failure.bytes < group.last_bytes && failure.bytes >= group.last_bytes / 2;
  return is_same_call && (failure.bytes == group.last_bytes || is_step_down);
}

void FailureGroups::take_retry(const FailureRecord& failure, bool after_end) {
  const TotalKey total{failure.device, failure.kind};
  OpenGroups& open = retries_[{failure.tid, total}];
  forget_old(open, failure.ns);
  const auto same = std::find_if(open.begin(), open.end(),
                                 [&](const OpenGroup& each) { return goes_on_with(groups_[each.index], failure); });
  if (same != open.end()) {
    groups_[same->index].freed_in_between = freed_(total) - same->freed_at_first;
    latest_ = same->index;
    return;
  }
  latest_ = add_group(failure, after_end);
  groups_[*latest_].end = Outcome::given_up;
  note_earlier_request(total);
  if (open.size() == most_open) open.erase(open.begin());
  open.push_back({*latest_, freed_(total)});
}

void FailureGroups::note_earlier_request(const TotalKey& total) {
  const auto [known, is_first] = latest_request_.try_emplace(total);
  if (!is_first) {
    const FailureGroup& before = groups_[known->second.index];
    groups_[*latest_].earlier = {before.first.ns, before.first.bytes, freed_(total) - known->second.freed_at_first};
  }
  known->second = {*latest_, freed_(total)};
}

void FailureGroups::take(const EventRecord& event) {
  if (event.op != schema::op::alloc || retries_.empty()) return;
  const TotalKey total{event.device, event.kind};
  const auto found = retries_.find(RetryKey{event.tid, total});
  if (found == retries_.end()) return;
  OpenGroups& open = found->second;
  forget_old(open, event.ns);
  std::erase_if(open, [&](const OpenGroup& each) {
    FailureGroup& group = groups_[each.index];
    if (event.bytes < group.last_bytes) return false;
    group.freed_in_between = freed_(total) - each.freed_at_first;
    group.end = Outcome::recovered;
    group.recovered_ns = event.ns;
    return true;
  });
  if (open.empty()) retries_.erase(found);
}

void FailureGroups::take(const SampleRecord& sample, std::int64_t ledger) {
  const bool is_complete = sample.free && sample.total && !sample.pool;
  if (sample.why != schema::why::failure || !is_complete || !latest_) return;
  FailureGroup& group = groups_[*latest_];
  const bool is_same_device = !group.first.device || group.first.device == sample.device;
  if (sample.device) latest_figures_.insert_or_assign(*sample.device, std::pair(sample, ledger));
  if (!is_same_device || (group.driver && group.driver->ns >= group.first.ns)) return;
  group.driver = sample;
  group.ledger = ledger;
}

void FailureGroups::take(const StateRecord& state) {
  const auto failed = latest_of_thread_.find(state.tid);
  if (failed == latest_of_thread_.end()) return;
  auto& known = groups_[failed->second].state;
  if (!known) known = state;
}

void FailureGroups::take(const ProbeRecord& probe) {
  latest_probe_ = probe;
  const auto failed = latest_of_thread_.find(probe.tid);
  if (failed == latest_of_thread_.end()) return;
  FailureGroup& group = groups_[failed->second];
  if (!group.probe || group.probe->ns < group.first.ns) group.probe = probe;
}

std::vector<FailureGroup> FailureGroups::in_order() const {
  auto groups = groups_;
  std::stable_sort(groups.begin(), groups.end(), [](const FailureGroup& a, const FailureGroup& b) {
    return std::tuple(!a.first.start, a.first.ns) < std::tuple(!b.first.start, b.first.ns);
  });
  return groups;
}

}  // namespace gpumem
