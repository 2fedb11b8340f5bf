// Failed calls, put together as a person would tell of them: "asked three times, then got it".
//
// A retry group is the out-of-memory failures of one call site, thread, device, kind, function and code that asked for
// the same size, or for less and less as an allocator does that comes down in steps; with at most one second between
// two of them and no success that answers them. All other failures are one group per function, code, call site,
// device, kind and size. Memory: one entry per group.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "analyze/live_table.hpp"
#include "analyze/usage.hpp"
#include "model/records.hpp"

namespace gpumem {

enum class Outcome {
  single,     // nothing that one retries
  recovered,  // the same thread got at least as much on the same device within a second
  given_up,
};

// The latest failed request for memory of the same kind and device before.
struct EarlierRequest {
  std::uint64_t ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t freed_since = 0;  // bytes of the same total that were freed from then on
};

struct FailureGroup {
  static constexpr std::uint64_t longest_gap_ns = 1'000'000'000;

  FailureRecord first;
  std::uint64_t count = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t last_bytes = 0;  // of the latest attempt; less than the first's where the caller came down in steps
  Outcome end = Outcome::single;
  std::uint64_t recovered_ns = 0;
  std::uint64_t freed_in_between = 0;  // bytes of the same total that were freed from the first failure to the outcome
  std::optional<SampleRecord> driver;  // what the driver said just after, with free and total
  std::int64_t ledger = 0;             // what this process held of the device when the driver said it
  std::optional<EarlierRequest> earlier;
  bool after_end = false;  // the first of them came after the exit handlers had begun

  std::optional<StateRecord> state;  // the process just after the first of them
  std::optional<ProbeRecord> probe;  // the machine just after it, or at the latest probe before

  std::set<DeviceOrdinal> own_contexts;       // devices on which the process had a context then
  std::optional<PointerHistory> pointer;      // of a failed free
  std::optional<std::uint64_t> device_total;  // bytes of the device, where the journal tells
  std::vector<HeldSite> held;                 // of a failed allocation: the largest on the device
  DeviceLayout layout;                        // likewise

  bool is_shrinking() const { return last_bytes < first.bytes; }
};

class FailureGroups {
 public:
  // Bytes of a total that have been freed so far.
  using FreedSoFar = std::function<std::uint64_t(const TotalKey&)>;

  explicit FailureGroups(FreedSoFar freed) : freed_(std::move(freed)) {}

  void take(const FailureRecord& failure, bool after_end);
  void take(const EventRecord& event);
  void take(const SampleRecord& sample, std::int64_t ledger);
  void take(const StateRecord& state);
  void take(const ProbeRecord& probe);

  // The group that the latest failure belongs to. Only after a failure.
  FailureGroup& latest() { return groups_[*latest_]; }

  // Failed starts first, then in the order of time.
  std::vector<FailureGroup> in_order() const;

 private:
  using RetryKey = std::tuple<std::int64_t, TotalKey>;
  using OtherKey =
      std::tuple<std::string, std::string, std::int64_t, std::int64_t, bool, std::uint64_t, TotalKey, std::uint64_t>;

  struct OpenGroup {
    std::size_t index = 0;
    std::uint64_t freed_at_first = 0;
  };
  using OpenGroups = std::vector<OpenGroup>;

  std::size_t add_group(const FailureRecord& failure, bool after_end);
  void take_retry(const FailureRecord& failure, bool after_end);
  void note_earlier_request(const TotalKey& total);
  void forget_old(OpenGroups& open, std::uint64_t now) const;
  bool goes_on_with(const FailureGroup& group, const FailureRecord& failure) const;

  FreedSoFar freed_;
  std::vector<FailureGroup> groups_;
  std::map<RetryKey, OpenGroups> retries_;
  std::map<TotalKey, OpenGroup> latest_request_;
  std::map<OtherKey, std::size_t> others_;
  std::optional<std::size_t> latest_;
  std::map<std::int64_t, std::size_t> latest_of_thread_;
  std::optional<ProbeRecord> latest_probe_;
  std::map<DeviceOrdinal, std::pair<SampleRecord, std::int64_t>> latest_figures_;  // with the ledger
};

}  // namespace gpumem
