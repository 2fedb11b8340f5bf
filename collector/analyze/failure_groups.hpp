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

enum class outcome {
  single,     // not an allocation: nothing to retry
  recovered,  // the same thread got at least as much on the same device within a second
  given_up,
};

struct failure_group {
  static constexpr std::uint64_t longest_gap_ns = 1'000'000'000;

  failure_record first;
  std::uint64_t count = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t last_bytes = 0;
  outcome end = outcome::single;
  std::uint64_t recovered_ns = 0;
  std::uint64_t freed_in_between = 0;   // bytes of the same total that were freed from the first failure to the outcome
  std::optional<sample_record> driver;  // what the driver said just after
  bool after_end = false;               // the first of them came after the exit handlers had begun
};

class failure_groups {
 public:
  // Bytes of a total that have been freed so far.
  using freed_so_far = std::function<std::uint64_t(const total_key&)>;

  explicit failure_groups(freed_so_far freed) : freed_(std::move(freed)) {}

  void take(const failure_record& failure, bool after_end);
  void take(const event_record& event);
  void take(const sample_record& sample);

  // Failed starts first, then in the order of time.
  std::vector<failure_group> finish();

 private:
  using retry_key = std::tuple<std::int64_t, total_key>;
  using other_key = std::tuple<std::string, std::string, std::int64_t, bool>;

  struct open_group {
    std::size_t index = 0;
    std::uint64_t freed_at_first = 0;
  };

  std::size_t add_group(const failure_record& failure, bool after_end);
  void take_allocation(const failure_record& failure, bool after_end);

  freed_so_far freed_;
  std::vector<failure_group> groups_;
  std::map<retry_key, open_group> retries_;
  std::map<other_key, std::size_t> others_;
  std::optional<std::size_t> latest_;
};

}  // namespace gpumem
