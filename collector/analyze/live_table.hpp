// Replays the events of one process: what is live, per call site and per total, and what it was at each total's peak.
//
// Blocks are matched by their number, never by position. Memory is bounded by live blocks, call sites and threads.
//
//   total (device, kind) ── peak: the event after which the shim's own counter was highest
//     ├─ call sites (total, stack)    each remembers its usage at its total's peak
//     └─ threads (total, thread id)   likewise
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyze/growth_windows.hpp"
#include "analyze/usage.hpp"
#include "analyze/value_at_peak.hpp"
#include "model/records.hpp"

namespace gpumem {

struct LiveBlock {
  SiteKey site;
  std::int64_t bytes = 0;
  std::uint64_t address = 0;
  std::uint64_t context = 0;
  std::int64_t tid = 0;
  bool free_failed = false;
};

struct CallSite {
  ValueAtPeak<Usage> live;
  Usage allocated;  // everything that it ever allocated
  Usage freed;
  Usage dropped;        // ended with its context
  Usage overwritten;    // ended because the driver handed its address out again
  Usage freed_at_exit;  // freed by destructors after the exit handlers had begun, or after the driver had gone
  Usage free_failed;    // of the live blocks: those that could not be freed
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;  // latest allocation
  GrowthWindows growth;
};

struct PeakMoment {
  std::uint64_t ns = 0;
  std::uint64_t bytes = 0;                         // the shim's own counter, where the journal has it: exact
  std::uint64_t replayed = 0;                      // what adding up the lines gives at the same moment
  std::vector<std::pair<TotalKey, Usage>> beside;  // the other totals of this device, and host memory, just then
};

struct Total {
  Usage live;
  Usage allocated;
  PeakMoment peak;
  std::uint64_t peaks = 0;  // epoch of the call sites' and threads' values
  std::map<std::int64_t, ValueAtPeak<Usage>> threads;
};

struct ContextDrop {
  std::uint64_t ns = 0;
  std::string api;
  std::uint64_t stack = 0;
  std::optional<DeviceOrdinal> device;
  Usage dropped;
};

// What this process held on a device when a request failed.
struct HeldThen {
  std::int64_t bytes = 0;  // device, managed and stream-ordered memory
  struct Site {
    SiteKey key;
    Usage amount;
  };
  std::vector<Site> largest;  // largest first
};

// What is known of the address that a failed free was given.
struct PointerHistory {
  bool is_live = false;  // a block stands there, and stays
  // Else: how the last block there ended, if the journal knows one.
  struct Ended {
    std::uint64_t ns = 0;
    std::string api;
    std::int64_t tid = 0;
    std::uint64_t stack = 0;  // of the call that ended it; 0 for most frees, which are recorded without
    std::uint64_t allocated_by = 0;
    bool with_context = false;
  };
  std::optional<Ended> ended;
};

class LiveTable {
 public:
  // Addresses whose last ended block is remembered, so that a second free of one can be explained.
  static constexpr std::size_t most_ended = 65536;

  void take(const EventRecord& event, bool after_end);

  // The block that a failed free was about stays live and is marked; but where the free failed because the driver was
  // shutting down, the block has ended with it.
  PointerHistory take_failed_free(const FailureRecord& failure, bool shutting_down);

  // What is live on the device now, with its largest call sites.
  HeldThen held_on(DeviceOrdinal device) const;

  const std::map<TotalKey, Total>& totals() const { return totals_; }
  const std::map<SiteKey, CallSite>& sites() const { return sites_; }
  const std::vector<ContextDrop>& context_drops() const { return context_drops_; }
  std::uint64_t unknown_frees() const { return unknown_frees_; }
  const Usage& untracked() const { return untracked_; }
  std::uint64_t freed_bytes(const TotalKey& key) const;

 private:
  using BlockNumber = std::uint64_t;
  using AddressKey = std::pair<std::string, std::uint64_t>;
  using Blocks = std::unordered_map<BlockNumber, LiveBlock>;

  void allocate(const EventRecord& event);
  void release(const EventRecord& event, bool after_end);
  void drop_context(const EventRecord& event);
  Blocks::iterator remove(Blocks::iterator found, std::uint64_t ns);
  void change(const LiveBlock& block, Usage delta, std::uint64_t ns);
  void remember_end(const LiveBlock& block, const EventRecord& event, bool with_context);
  Blocks::iterator find_freed(const FailureRecord& failure);
  void note_peak(const TotalKey& key, Total& of, const EventRecord& event);

  Blocks blocks_;
  std::map<AddressKey, BlockNumber> by_address_;
  Blocks overwritten_;
  std::unordered_set<BlockNumber> freed_before_alloc_;
  std::map<TotalKey, Total> totals_;
  std::map<SiteKey, CallSite> sites_;
  std::vector<ContextDrop> context_drops_;
  std::uint64_t unknown_frees_ = 0;
  Usage untracked_;
  std::unordered_map<std::uint64_t, PointerHistory::Ended> ended_;  // by address
  std::deque<std::uint64_t> ended_order_;                           // oldest first
};

}  // namespace gpumem
