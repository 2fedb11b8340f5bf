// How a live table goes on where events are missing.
#include <algorithm>

#include "analyze/live_table.hpp"

namespace gpumem {
namespace {

std::int64_t amount(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

void LiveTable::restart(bool lists_blocks) {
  lists_blocks_ = lists_blocks;
  blocks_.clear();
  by_address_.clear();
  overwritten_.clear();
  freed_before_alloc_.clear();
  in_pools_.clear();
  for (auto& [key, site] : sites_) {
    site.live.add(-site.live.now(), totals_[key.total].peaks);
    site.free_failed = {};
    site.further_references = 0;
    site.exported = 0;
  }
  for (auto& [_, of] : totals_) {
    of.live = {};
    for (auto& [_, thread] : of.threads) thread.add(-thread.now(), of.peaks);
  }
}

void LiveTable::take(const CheckpointRecord& checkpoint) {
  for (const auto& total : checkpoint.totals) {
    note_unplaced_peak({total.device, total.kind}, total.peak, checkpoint.ns);
  }
}

void LiveTable::take(const SiteRecord& line) {
  const SiteKey key{{line.device, line.kind}, line.stack};
  const Usage live{amount(line.live_blocks), amount(line.live_bytes)};
  CallSite& site = sites_[key];
  site.allocated = {amount(line.allocated_blocks), amount(line.allocated_bytes)};
  site.first_ns = line.first_ns;
  site.last_ns = std::max(site.last_ns, line.last_ns);
  site.counted_until_ns = line.ns;
  site.in_snapshot = {amount(line.blocks_at_peak), amount(line.bytes_at_peak)};
  site.growth.record(line.ns, live.bytes);
  if (lists_blocks_) return;
  Usage delta = live;
  delta += -site.live.now();
  Total& of = totals_[key.total];
  of.live += delta;
  of.allocated += delta;
  site.live.add(delta, of.peaks);
}

void LiveTable::take(const LiveRecord& listed) {
  for (const auto& each : listed.blocks) {
    LiveBlock block{{{listed.device, listed.kind}, each.stack},
                    is_object(listed.kind) ? 1 : amount(each.bytes),
                    each.address,
                    listed.context,
                    each.owner,
                    each.tid};
    block.references = amount(each.references);
    const auto [place, is_new] = blocks_.emplace(each.number, block);
    if (!is_new) continue;
    if (block.address != 0) by_address_[address_key(block.address, listed.kind)] = each.number;
    add_live(block, {1, block.bytes});
    totals_[block.site.total].allocated += {1, block.bytes};
    CallSite& site = sites_[block.site];
    site.further_references += block.references - 1;
    if (const auto owner = site_of(block.owner)) site.owner = owner;
  }
}

void LiveTable::note_unplaced_peak(const TotalKey& key, std::uint64_t bytes, std::uint64_t ns) {
  Total& of = totals_[key];
  if (bytes <= of.peak.bytes) return;
  of.peak = {};
  of.peak.ns = ns;
  of.peak.is_placed = false;
  of.peak.bytes = bytes;
  ++of.peaks;
}

}  // namespace gpumem
