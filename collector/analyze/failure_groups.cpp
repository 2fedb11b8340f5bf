#include "analyze/failure_groups.hpp"

#include <algorithm>

#include "schema.hpp"

namespace gpumem {
namespace {

bool within_a_gap(std::uint64_t earlier, std::uint64_t later) {
  return later <= earlier + failure_group::longest_gap_ns;
}

}  // namespace

std::size_t failure_groups::add_group(const failure_record& failure, bool after_end) {
  failure_group group;
  group.first = failure;
  group.after_end = after_end;
  groups_.push_back(std::move(group));
  return groups_.size() - 1;
}

void failure_groups::take(const failure_record& failure, bool after_end) {
  if (failure.tried == schema::op::alloc && !failure.start) {
    take_allocation(failure, after_end);
  } else {
    const other_key key{failure.tried, failure.api, failure.code, failure.start};
    const auto [found, is_new] = others_.try_emplace(key, 0);
    if (is_new) found->second = add_group(failure, after_end);
    latest_ = found->second;
  }
  failure_group& group = groups_[*latest_];
  ++group.count;
  group.last_ns = std::max(group.last_ns, failure.ns);
  group.last_bytes = failure.bytes;
  group.first.first = group.first.first || failure.first;
}

void failure_groups::take_allocation(const failure_record& failure, bool after_end) {
  const total_key total{failure.device, failure.kind};
  const retry_key key{failure.tid, total};
  const auto open = retries_.find(key);
  if (open != retries_.end() && within_a_gap(groups_[open->second.index].last_ns, failure.ns)) {
    groups_[open->second.index].freed_in_between = freed_(total) - open->second.freed_at_first;
    latest_ = open->second.index;
    return;
  }
  latest_ = add_group(failure, after_end);
  groups_[*latest_].end = outcome::given_up;
  retries_[key] = {*latest_, freed_(total)};
}

void failure_groups::take(const event_record& event) {
  if (event.op != schema::op::alloc || retries_.empty()) return;
  const auto open = retries_.find(retry_key{event.tid, {event.device, event.kind}});
  if (open == retries_.end()) return;
  failure_group& group = groups_[open->second.index];
  if (event.bytes < group.last_bytes) return;
  if (within_a_gap(group.last_ns, event.ns)) {
    group.freed_in_between = freed_({event.device, event.kind}) - open->second.freed_at_first;
    group.end = outcome::recovered;
    group.recovered_ns = event.ns;
  }
  retries_.erase(open);
}

void failure_groups::take(const sample_record& sample) {
  if (sample.why != schema::why::failure || !latest_) return;
  failure_group& group = groups_[*latest_];
  const bool is_same_device = !group.first.device || *group.first.device == sample.device;
  if (!group.driver && is_same_device) group.driver = sample;
}

std::vector<failure_group> failure_groups::finish() {
  std::stable_sort(groups_.begin(), groups_.end(), [](const failure_group& a, const failure_group& b) {
    return std::tuple(!a.first.start, a.first.ns) < std::tuple(!b.first.start, b.first.ns);
  });
  return std::move(groups_);
}

}  // namespace gpumem
