// Failed calls, put together as a person would tell of them: "asked three times, then got it".
//
// A retry group is the failed allocations of one thread on one device and kind, with at most one second between two of
// them and no success of that size in between. All other failures are one group per function, code and attempt.
// Memory: one entry per group.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "analyze/usage.hpp"
#include "model/records.hpp"

namespace gpumem {

enum class Outcome {
  single,     // not an allocation: nothing to retry
  recovered,  // the same thread got at least as much on the same device within a second
  given_up,
};

struct FailureGroup {
  static constexpr std::uint64_t longest_gap_ns = 1'000'000'000;

  FailureRecord first;
  std::uint64_t count = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t last_bytes = 0;
  Outcome end = Outcome::single;
  std::uint64_t recovered_ns = 0;
  std::uint64_t freed_in_between = 0;  // bytes of the same total that were freed from the first failure to the outcome
  std::optional<SampleRecord> driver;  // what the driver said just after
  bool after_end = false;              // the first of them came after the exit handlers had begun
};

class FailureGroups {
 public:
  // Bytes of a total that have been freed so far.
  using FreedSoFar = std::function<std::uint64_t(const TotalKey&)>;

  explicit FailureGroups(FreedSoFar freed) : freed_(std::move(freed)) {}

  void take(const FailureRecord& failure, bool after_end);
  void take(const EventRecord& event);
  void take(const SampleRecord& sample);

  // Failed starts first, then in the order of time.
  std::vector<FailureGroup> finish();

 private:
  using RetryKey = std::tuple<std::int64_t, TotalKey>;
  using OtherKey = std::tuple<std::string, std::string, std::int64_t, bool>;

  struct OpenGroup {
    std::size_t index = 0;
    std::uint64_t freed_at_first = 0;
  };

  std::size_t add_group(const FailureRecord& failure, bool after_end);
  void take_allocation(const FailureRecord& failure, bool after_end);

  FreedSoFar freed_;
  std::vector<FailureGroup> groups_;
  std::map<RetryKey, OpenGroup> retries_;
  std::map<OtherKey, std::size_t> others_;
  std::optional<std::size_t> latest_;
};

}  // namespace gpumem
