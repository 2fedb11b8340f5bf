// What a segment repeats so that it can be read without those before it, as values; docs/FORMAT.md defines the fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/line_head.hpp"

namespace gpumem {

struct TotalCounters {
  std::optional<DeviceOrdinal> device;
  std::string kind;
  std::uint64_t live = 0;
  std::uint64_t peak = 0;
};

// All device memory of a device, or without one all host memory.
struct SumAtPeak {
  std::optional<DeviceOrdinal> device;
  std::uint64_t ns = 0;
  std::uint64_t bytes = 0;
};

struct LivingContext {
  std::uint64_t number = 0;
  std::optional<DeviceOrdinal> device;
};

struct CheckpointRecord : LineHead {
  std::string part;
  std::uint64_t number = 0;
  std::uint64_t events = 0;
  std::uint64_t failures = 0;
  std::uint64_t last_block = 0;
  std::vector<LivingContext> contexts;
  std::vector<TotalCounters> totals;
  std::vector<SumAtPeak> snapshots;
  std::optional<std::uint64_t> blocks;  // with "end": how many are listed; absent where none is
};

// The counters of a call site.
struct SiteRecord : LineHead {
  std::uint64_t stack = 0;
  std::string kind;
  std::optional<DeviceOrdinal> device;
  std::uint64_t live_bytes = 0, live_blocks = 0;
  std::uint64_t allocated_bytes = 0, allocated_blocks = 0;
  std::uint64_t bytes_at_peak = 0, blocks_at_peak = 0;
  std::uint64_t first_ns = 0, last_ns = 0;
};

struct ListedBlock {
  std::uint64_t number = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stack = 0;
  std::uint64_t born_ns = 0;
  std::int64_t tid = 0;
  std::uint64_t owner = 0;
  std::uint64_t references = 1;
};

// Live blocks that are alike.
struct LiveRecord : LineHead {
  std::string kind;
  std::optional<DeviceOrdinal> device;
  std::optional<std::uint64_t> context;
  std::vector<ListedBlock> blocks;
};

// No line: stands where the events of segments are missing. What was live before it is not any more; the checkpoint and
// the blocks that follow say what is.
struct GapRecord : LineHead {  // `ns`: when the events go on
  std::uint64_t since_ns = 0;  // when they had stopped
  std::uint64_t first_segment = 0;
  std::uint64_t segments_missing = 0;  // 0: the journal goes on where it was, but only now lists what is live
  bool lists_blocks = false;           // what is live is known block by block; else only each call site's sum
};

}  // namespace gpumem
