// Replays the events of one process: what is live, per call site and per total, and what it was at each total's peak.
//
// Blocks are matched by their number, never by position. Memory is bounded by live blocks, call sites and threads.
// Where events are missing, what is live is forgotten and told anew by a checkpoint: block by block, or where that does
// not list them, as a sum for each call site, which then stays until the next one.
//
//   total (device, kind) ── peak: the event after which the shim's own counter was highest
//     ├─ call sites (total, stack)    each remembers its usage at its total's peak
//     └─ threads (total, thread id)   likewise
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyze/growth_windows.hpp"
#include "analyze/kinds.hpp"
#include "analyze/pointer_history.hpp"
#include "analyze/usage.hpp"
#include "analyze/value_at_peak.hpp"
#include "model/records.hpp"

namespace gpumem {

struct LiveBlock {
  SiteKey site;
  std::int64_t bytes = 0;  // of an object: 1
  std::uint64_t address = 0;
  std::optional<std::uint64_t> context;  // that it ends with
  std::uint64_t owner = 0;               // block that it belongs to
  std::int64_t tid = 0;
  std::int64_t references = 1;
  bool free_failed = false;
  bool exported = false;
};

struct CallSite {
  ValueAtPeak<Usage> live;
  Usage allocated;  // everything that it ever allocated
  Usage freed;
  Usage dropped;        // ended with its context
  Usage overwritten;    // ended because the driver handed its address out again
  Usage freed_at_exit;  // freed by destructors after the exit handlers had begun, or after the driver had gone
  Usage free_failed;    // of the live blocks: those that could not be freed
  std::int64_t further_references = 0;  // of the live blocks: beyond the one that each was born with
  std::int64_t exported = 0;            // of the live blocks: those that other processes may hold too
  std::optional<SiteKey> owner;         // where the block came from that its latest one belongs to
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;  // latest allocation
  GrowthWindows growth;
  std::uint64_t counted_until_ns = 0;  // what came before is in `allocated` already
  Usage in_snapshot;                   // of the newest checkpoint
};

struct PeakMoment {
  std::uint64_t ns = 0;                            // unless is_placed: not later than
  bool is_placed = true;                           // at a line that is there
  std::uint64_t bytes = 0;                         // the shim's own counter, where the journal has it: exact
  std::uint64_t replayed = 0;                      // what adding up the lines gives at the same moment
  std::vector<std::pair<TotalKey, Usage>> beside;  // the other memory of this device, and host memory, just then
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
  Sums dropped;
};

// A call site that held memory of a device when a request failed.
struct HeldSite {
  SiteKey key;
  Usage amount;
};

// How the live blocks lie on a device.
struct DeviceLayout {
  std::uint64_t blocks = 0;
  std::uint64_t largest_gap = 0;  // bytes between two of them; 0: unknown
};

class LiveTable {
 public:
  void take(const EventRecord& event, bool after_end);

  // What is live is not what it was.
  void restart(bool lists_blocks);
  void take(const CheckpointRecord& checkpoint);
  void take(const SiteRecord& site);
  void take(const LiveRecord& listed);
  bool lists_blocks() const { return lists_blocks_; }

  // The block that a failed free was about stays live and is marked; but where the free failed because the driver was
  // shutting down, the block has ended with it.
  PointerHistory take_failed_free(const FailureRecord& failure, bool shutting_down);

  // What stands or stood at the address of a free that was no block's.
  PointerHistory history_of(const CallRecord& call) const;

  // Live bytes of all kinds that count memory of the device.
  std::int64_t bytes_on(DeviceOrdinal device) const;

  // Live stream-ordered memory, of all pools and of one that the program made.
  std::int64_t bytes_in_pools(DeviceOrdinal device) const;
  std::int64_t bytes_in_pool(DeviceOrdinal device, std::uint64_t pool) const;

  // The call sites that hold most of the device's memory now, largest first.
  std::vector<HeldSite> largest_on(DeviceOrdinal device) const;
  std::vector<HeldSite> largest_in_host_memory() const;

  // Gaps of `most` bytes or more are none: the blocks then lie in unrelated ranges.
  DeviceLayout layout_on(DeviceOrdinal device, std::uint64_t most) const;

  // Where a live block came from; nothing where there is none of this number.
  std::optional<SiteKey> site_of(std::uint64_t block) const;

  const std::map<TotalKey, Total>& totals() const { return totals_; }
  const std::map<SiteKey, CallSite>& sites() const { return sites_; }
  const std::vector<ContextDrop>& context_drops() const { return context_drops_; }
  std::uint64_t unknown_frees() const { return unknown_frees_; }
  const Usage& untracked() const { return untracked_; }
  std::uint64_t freed_bytes(const TotalKey& key) const;

 private:
  using BlockNumber = std::uint64_t;
  using Blocks = std::unordered_map<BlockNumber, LiveBlock>;

  std::vector<HeldSite> largest_of(Counts counts, std::optional<DeviceOrdinal> device) const;
  void allocate(const EventRecord& event);
  void release(const EventRecord& event, bool after_end);
  void drop_context(const EventRecord& event);
  void refer(const EventRecord& event);
  void mark_exported(const EventRecord& event);
  Blocks::iterator remove(Blocks::iterator found, std::uint64_t ns);
  void change(const LiveBlock& block, Usage delta, std::uint64_t ns);
  void remember_end(const LiveBlock& block, const EventRecord& event, bool with_context);
  Blocks::const_iterator find_at(const CallRecord& call) const;
  void note_peak(const TotalKey& key, Total& of, const EventRecord& event);
  void note_unplaced_peak(const TotalKey& key, std::uint64_t bytes, std::uint64_t ns);
  void add_live(const LiveBlock& block, Usage delta);

  bool lists_blocks_ = true;

  Blocks blocks_;
  std::map<AddressKey, BlockNumber> by_address_;
  Blocks overwritten_;
  std::unordered_set<BlockNumber> freed_before_alloc_;
  std::map<TotalKey, Total> totals_;
  std::map<SiteKey, CallSite> sites_;
  std::vector<ContextDrop> context_drops_;
  std::uint64_t unknown_frees_ = 0;
  Usage untracked_;
  EndedBlocks ended_;
  std::map<std::pair<std::optional<DeviceOrdinal>, std::uint64_t>, std::int64_t> in_pools_;
};

}  // namespace gpumem
