#include "render/site_groups.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace gpumem {
namespace {

// The first frame at which not all of these stacks are alike; the count of the shortest where it is the only
// difference.
std::size_t first_difference(const std::vector<const CallName*>& sites) {
  for (std::size_t depth = 0;; ++depth) {
    for (const auto* site : sites) {
      if (depth >= site->shown.size() || site->shown[depth].text != sites.front()->shown[depth].text) return depth;
    }
  }
}

}  // namespace

std::vector<Share> merge_sites(const std::vector<Share>& by_stack, CallNames& names) {
  std::vector<Share> merged;
  std::map<std::string, std::size_t> known;
  for (const auto& each : by_stack) {
    const auto [found, is_new] = known.try_emplace(names.of(each.key).shown_text(), merged.size());
    if (is_new) {
      merged.push_back(each);
    } else {
      merged[found->second].amount += each.amount;
    }
  }
  std::stable_sort(merged.begin(), merged.end(),
                   [](const Share& a, const Share& b) { return a.amount.bytes > b.amount.bytes; });
  return merged;
}

std::vector<Leak> merge_sites(const std::vector<Leak>& leaks, CallNames& names) {
  std::vector<Leak> merged;
  std::map<std::tuple<LeakClass, TotalKey, std::string>, std::size_t> known;
  for (const auto& each : leaks) {
    const auto [found, is_new] = known.try_emplace(
        std::tuple(each.what, each.site.total, names.of(each.site.stack).shown_text()), merged.size());
    if (is_new) {
      merged.push_back(each);
      continue;
    }
    Leak& into = merged[found->second];
    into.amount += each.amount;
    into.allocated += each.allocated;
    into.first_ns = std::min(into.first_ns, each.first_ns);
    into.last_ns = std::max(into.last_ns, each.last_ns);
    into.minima.clear();
    into.further_references += each.further_references;
    into.exported += each.exported;
  }
  std::stable_sort(merged.begin(), merged.end(), [](const Leak& a, const Leak& b) {
    return std::tuple(a.what, -a.amount.bytes) < std::tuple(b.what, -b.amount.bytes);
  });
  return merged;
}

std::vector<std::string> distinct_labels(const std::vector<std::uint64_t>& stacks, CallNames& names) {
  std::map<std::string, std::vector<std::size_t>> by_label;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    labels.push_back(names.of(stacks[i]).label);
    by_label[labels.back()].push_back(i);
  }
  for (const auto& [label, members] : by_label) {
    std::vector<const CallName*> sites;
    std::set<std::string> stacks_of_label;
    for (const auto i : members) {
      sites.push_back(&names.of(stacks[i]));
      stacks_of_label.insert(sites.back()->shown_text());
    }
    if (stacks_of_label.size() < 2) continue;
    const std::size_t depth = first_difference(sites);
    std::set<std::string> short_names;
    for (const auto* site : sites) {
      if (depth < site->shown.size()) short_names.insert(site->shown[depth].short_name);
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (depth >= sites[i]->shown.size()) continue;
      const auto& frame = sites[i]->shown[depth];
      labels[members[i]] += " ← " + (short_names.size() > 1 ? frame.short_name : frame.label);
    }
  }
  return labels;
}

}  // namespace gpumem
