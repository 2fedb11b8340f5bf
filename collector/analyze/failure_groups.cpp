#include "analyze/failure_groups.hpp"

#include <algorithm>

#include "schema.hpp"

namespace gpumem {
namespace {

bool within_a_gap(std::uint64_t earlier, std::uint64_t later) {
  return later <= earlier + FailureGroup::longest_gap_ns;
}

}  // namespace

std::size_t FailureGroups::add_group(const FailureRecord& failure, bool after_end) {
  FailureGroup group;
  group.first = failure;
  group.after_end = after_end;
  groups_.push_back(std::move(group));
  return groups_.size() - 1;
}

void FailureGroups::take(const FailureRecord& failure, bool after_end) {
  if (failure.tried == schema::op::alloc && !failure.start) {
    take_allocation(failure, after_end);
  } else {
    const OtherKey key{failure.tried, failure.api, failure.code, failure.start};
    const auto [found, is_new] = others_.try_emplace(key, 0);
    if (is_new) found->second = add_group(failure, after_end);
    latest_ = found->second;
  }
  FailureGroup& group = groups_[*latest_];
  ++group.count;
  group.last_ns = std::max(group.last_ns, failure.ns);
  group.last_bytes = failure.bytes;
  group.first.first = group.first.first || failure.first;
}

void FailureGroups::take_allocation(const FailureRecord& failure, bool after_end) {
  const TotalKey total{failure.device, failure.kind};
  const RetryKey key{failure.tid, total};
  const auto open = retries_.find(key);
  if (open != retries_.end() && within_a_gap(groups_[open->second.index].last_ns, failure.ns)) {
    groups_[open->second.index].freed_in_between = freed_(total) - open->second.freed_at_first;
    latest_ = open->second.index;
    return;
  }
  latest_ = add_group(failure, after_end);
  groups_[*latest_].end = Outcome::given_up;
  retries_[key] = {*latest_, freed_(total)};
}

void FailureGroups::take(const EventRecord& event) {
  if (event.op != schema::op::alloc || retries_.empty()) return;
  const auto open = retries_.find(RetryKey{event.tid, {event.device, event.kind}});
  if (open == retries_.end()) return;
  FailureGroup& group = groups_[open->second.index];
  if (event.bytes < group.last_bytes) return;
  if (within_a_gap(group.last_ns, event.ns)) {
    group.freed_in_between = freed_({event.device, event.kind}) - open->second.freed_at_first;
    group.end = Outcome::recovered;
    group.recovered_ns = event.ns;
  }
  retries_.erase(open);
}

void FailureGroups::take(const SampleRecord& sample) {
  if (sample.why != schema::why::failure || !latest_) return;
  FailureGroup& group = groups_[*latest_];
  const bool is_same_device = !group.first.device || *group.first.device == sample.device;
  if (!group.driver && is_same_device) group.driver = sample;
}

std::vector<FailureGroup> FailureGroups::finish() {
  std::stable_sort(groups_.begin(), groups_.end(), [](const FailureGroup& a, const FailureGroup& b) {
    return std::tuple(!a.first.start, a.first.ns) < std::tuple(!b.first.start, b.first.ns);
  });
  return std::move(groups_);
}

}  // namespace gpumem
