// Replays the events of one process: what is live, per call site and per total, and what it was at each total's peak.
//
// Blocks are matched by their number, never by position. Memory is bounded by live blocks, call sites and threads.
//
//   total (device, kind) ── peak: the event after which the shim's own counter was highest
//     ├─ call sites (total, stack)    each remembers its usage at its total's peak
//     └─ threads (total, thread id)   likewise
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyze/growth_windows.hpp"
#include "analyze/usage.hpp"
#include "analyze/value_at_peak.hpp"
#include "model/records.hpp"

namespace gpumem {

struct live_block {
  site_key site;
  std::int64_t bytes = 0;
  std::uint64_t address = 0;
  std::uint64_t context = 0;
  std::int64_t tid = 0;
  bool free_failed = false;
};

struct call_site {
  value_at_peak<usage> live;
  usage allocated;  // everything that it ever allocated
  usage freed;
  usage dropped;        // ended with its context
  usage overwritten;    // ended because the driver handed its address out again
  usage freed_at_exit;  // freed by destructors after the exit handlers had begun, or after the driver had gone
  usage free_failed;    // of the live blocks: those that could not be freed
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;  // latest allocation
  growth_windows growth;
};

struct peak_moment {
  std::uint64_t ns = 0;
  std::uint64_t bytes = 0;                          // the shim's own counter, where the journal has it: exact
  std::uint64_t replayed = 0;                       // what adding up the lines gives at the same moment
  std::vector<std::pair<total_key, usage>> beside;  // the other totals of this device, and host memory, just then
};

struct total {
  usage live;
  usage allocated;
  peak_moment peak;
  std::uint64_t peaks = 0;  // epoch of the call sites' and threads' values
  std::map<std::int64_t, value_at_peak<usage>> threads;
};

struct context_drop {
  std::uint64_t ns = 0;
  std::string api;
  std::uint64_t stack = 0;
  std::optional<device_ordinal> device;
  usage dropped;
};

class live_table {
 public:
  void take(const event_record& event, bool after_end);

  // The block that a failed free was about stays live and is marked; but where the free failed because the driver was
  // shutting down, the block has ended with it.
  void take_failed_free(const failure_record& failure, bool shutting_down);

  const std::map<total_key, total>& totals() const { return totals_; }
  const std::map<site_key, call_site>& sites() const { return sites_; }
  const std::vector<context_drop>& context_drops() const { return context_drops_; }
  std::uint64_t unknown_frees() const { return unknown_frees_; }
  std::uint64_t freed_bytes(const total_key& key) const;

 private:
  using block_number = std::uint64_t;
  using address_key = std::pair<std::string, std::uint64_t>;
  using blocks = std::unordered_map<block_number, live_block>;

  void allocate(const event_record& event);
  void release(const event_record& event, bool after_end);
  void drop_context(const event_record& event);
  blocks::iterator remove(blocks::iterator found, std::uint64_t ns);
  void change(const live_block& block, usage delta, std::uint64_t ns);
  void note_peak(const total_key& key, total& of, const event_record& event);

  blocks blocks_;
  std::map<address_key, block_number> by_address_;
  blocks overwritten_;
  std::unordered_set<block_number> freed_before_alloc_;
  std::map<total_key, total> totals_;
  std::map<site_key, call_site> sites_;
  std::vector<context_drop> context_drops_;
  std::uint64_t unknown_frees_ = 0;
};

}  // namespace gpumem
