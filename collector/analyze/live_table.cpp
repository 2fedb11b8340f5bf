#include "analyze/live_table.hpp"

#include <algorithm>

#include "schema.hpp"

namespace gpumem {
namespace {

constexpr auto stream_ordered = "async";

Usage one_block(const LiveBlock& block) { return {1, block.bytes}; }

}  // namespace

void LiveTable::take(const EventRecord& event, bool after_end) {
  if (!lists_blocks_) {
    const bool has_counter = event.op == schema::op::alloc && event.live;
    if (has_counter) note_unplaced_peak({event.device, event.kind}, *event.live, event.ns);
    return;
  }
  if (event.op == schema::op::alloc) allocate(event);
  if (event.op == schema::op::free) release(event, after_end);
  if (event.op == schema::op::context_end) drop_context(event);
  if (event.op == schema::op::ref || event.op == schema::op::unref) refer(event);
  if (event.op == schema::op::exported) mark_exported(event);
}

void LiveTable::change(const LiveBlock& block, Usage delta, std::uint64_t ns) {
  add_live(block, delta);
  CallSite& site = sites_[block.site];
  site.growth.record(ns, site.live.now().bytes);
}

void LiveTable::add_live(const LiveBlock& block, Usage delta) {
  Total& of = totals_[block.site.total];
  CallSite& site = sites_[block.site];
  of.live += delta;
  of.threads[block.tid].add(delta, of.peaks);
  site.live.add(delta, of.peaks);
  if (block.site.total.kind == stream_ordered) in_pools_[{block.site.total.device, block.owner}] += delta.bytes;
}

LiveTable::Blocks::iterator LiveTable::remove(Blocks::iterator found, std::uint64_t ns) {
  const auto& [number, block] = *found;
  change(block, -one_block(block), ns);
  CallSite& site = sites_[block.site];
  if (block.free_failed) site.free_failed += -one_block(block);
  if (block.exported) --site.exported;
  site.further_references -= block.references - 1;
  const auto at_address = by_address_.find(address_key(block.address, block.site.total.kind));
  if (at_address != by_address_.end() && at_address->second == number) by_address_.erase(at_address);
  return blocks_.erase(found);
}

void LiveTable::allocate(const EventRecord& event) {
  if (event.untracked) untracked_ += {1, static_cast<std::int64_t>(event.bytes)};
  if (!event.block || event.untracked) return;
  const BlockNumber number = *event.block;
  if (blocks_.contains(number)) return;  // the journal contradicts itself: its first line stands
  LiveBlock block{{{event.device, event.kind}, event.stack},
                  is_object(event.kind) ? 1 : static_cast<std::int64_t>(event.bytes),
                  event.address,
                  event.context,
                  event.owner.value_or(0),
                  event.tid};
  CallSite& site = sites_[block.site];
  if (const auto owner = site_of(block.owner)) site.owner = owner;
  if (site.allocated.blocks == 0) site.first_ns = event.ns;
  site.last_ns = std::max(site.last_ns, event.ns);
  if (event.ns > site.counted_until_ns) site.allocated += one_block(block);
  Total& of = totals_[block.site.total];
  of.allocated += one_block(block);

  if (freed_before_alloc_.erase(number) > 0) {
    site.freed += one_block(block);
    return;
  }
  // The driver hands an address out again only after its block has ended, whether or not a line says so.
  const AddressKey place = address_key(event.address, event.kind);
  const auto old = event.address ? by_address_.find(place) : by_address_.end();
  if (old != by_address_.end()) {
    const auto ended = blocks_.find(old->second);
    overwritten_.insert(*ended);
    sites_[ended->second.site].overwritten += one_block(ended->second);
    remove(ended, event.ns);
  }
  if (event.address) by_address_[place] = number;
  change(block, one_block(block), event.ns);
  blocks_.emplace(number, std::move(block));
  note_peak({event.device, event.kind}, of, event);
}

void LiveTable::note_peak(const TotalKey& key, Total& of, const EventRecord& event) {
  const auto replayed = static_cast<std::uint64_t>(std::max<std::int64_t>(0, of.live.bytes));
  const std::uint64_t bytes = event.live.value_or(replayed);
  if (bytes < of.peak.bytes || (bytes == of.peak.bytes && of.peak.is_placed)) return;
  of.peak.is_placed = true;
  of.peak.ns = event.ns;
  of.peak.bytes = bytes;
  of.peak.replayed = replayed;
  of.peak.beside.clear();
  ++of.peaks;
  if (!is_memory(key.kind)) return;
  for (const auto& [other, state] : totals_) {
    const bool is_beside = other != key && is_memory(other.kind) && (!other.device || other.device == key.device);
    if (is_beside && state.live.blocks > 0) of.peak.beside.emplace_back(other, state.live);
  }
}

void LiveTable::release(const EventRecord& event, bool after_end) {
  if (!event.block) {
    ++unknown_frees_;
    return;
  }
  const auto found = blocks_.find(*event.block);
  if (found != blocks_.end()) {
    CallSite& site = sites_[found->second.site];
    const Usage freed = one_block(found->second);
    site.freed += freed;
    if (after_end) site.freed_at_exit += freed;
    remember_end(found->second, event, false);
    remove(found, event.ns);
    return;
  }
  // Its address came again before the line of its free did: it was freed after all.
  if (const auto overwritten = overwritten_.find(*event.block); overwritten != overwritten_.end()) {
    CallSite& site = sites_[overwritten->second.site];
    const Usage freed = one_block(overwritten->second);
    site.overwritten += -freed;
    site.freed += freed;
    overwritten_.erase(overwritten);
    return;
  }
  freed_before_alloc_.insert(*event.block);
}

void LiveTable::drop_context(const EventRecord& event) {
  if (!event.context) return;
  ContextDrop drop{event.ns, event.api, event.stack, event.device, {}};
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    const auto& [number, value] = *block;
    if (value.context != event.context) {
      ++block;
      continue;
    }
    add_to(drop.dropped, value.site.total.kind, one_block(value));
    sites_[value.site].dropped += one_block(value);
    remember_end(value, event, true);
    block = remove(block, event.ns);
  }
  context_drops_.push_back(std::move(drop));
}

void LiveTable::refer(const EventRecord& event) {
  const auto found = event.block ? blocks_.find(*event.block) : blocks_.end();
  if (found == blocks_.end() || !event.references) return;
  const auto references = static_cast<std::int64_t>(*event.references);
  sites_[found->second.site].further_references += references - found->second.references;
  found->second.references = references;
}

void LiveTable::mark_exported(const EventRecord& event) {
  const auto found = event.block ? blocks_.find(*event.block) : blocks_.end();
  if (found == blocks_.end() || found->second.exported) return;
  found->second.exported = true;
  ++sites_[found->second.site].exported;
}

void LiveTable::remember_end(const LiveBlock& block, const EventRecord& event, bool with_context) {
  ended_.remember(block.address,
                  {block.site.total.kind, event.ns, event.api, event.tid, event.stack, block.site.stack, with_context});
}

LiveTable::Blocks::const_iterator LiveTable::find_at(const CallRecord& call) const {
  if (call.block) return blocks_.find(*call.block);
  if (call.address == 0) return blocks_.end();
  const auto kind_of = [this](BlockNumber number) { return std::string_view(blocks_.at(number).site.total.kind); };
  const auto found = find_meant(by_address_, call.address, call.api, call.kind, kind_of);
  return found == by_address_.end() ? blocks_.end() : blocks_.find(found->second);
}

PointerHistory LiveTable::history_of(const CallRecord& call) const {
  PointerHistory history;
  if (const auto found = find_at(call); found != blocks_.end()) {
    const LiveBlock& block = found->second;
    history.live = {block.site.total, block.site.stack, block.context,
                    is_given_back_by(block.site.total.kind, call.api)};
  } else {
    history.ended = ended_.find(call.address, call.api, call.kind);
  }
  return history;
}

PointerHistory LiveTable::take_failed_free(const FailureRecord& failure, bool shutting_down) {
  const auto at = find_at(failure);
  if (at == blocks_.end()) return history_of(failure);
  const auto found = blocks_.find(at->first);
  LiveBlock& block = found->second;
  CallSite& site = sites_[block.site];
  if (shutting_down) {
    site.freed_at_exit += one_block(block);
    remove(found, failure.ns);
    return {};
  }
  if (!block.free_failed) {
    block.free_failed = true;
    site.free_failed += one_block(block);
  }
  return history_of(failure);
}

std::int64_t LiveTable::bytes_on(DeviceOrdinal device) const {
  std::int64_t bytes = 0;
  for (const auto& [key, of] : totals_) {
    if (key.device == device && counts_of(key.kind) == Counts::device_memory) bytes += of.live.bytes;
  }
  return bytes;
}

std::int64_t LiveTable::bytes_in_pools(DeviceOrdinal device) const {
  const auto found = totals_.find({device, stream_ordered});
  return found == totals_.end() ? 0 : found->second.live.bytes;
}

std::int64_t LiveTable::bytes_in_pool(DeviceOrdinal device, std::uint64_t pool) const {
  const auto found = in_pools_.find({device, pool});
  return found == in_pools_.end() ? 0 : found->second;
}

std::optional<SiteKey> LiveTable::site_of(std::uint64_t block) const {
  const auto found = blocks_.find(block);
  return found == blocks_.end() ? std::nullopt : std::optional(found->second.site);
}

std::uint64_t LiveTable::freed_bytes(const TotalKey& key) const {
  const auto found = totals_.find(key);
  return found == totals_.end() ? 0
                                : static_cast<std::uint64_t>(found->second.allocated.bytes - found->second.live.bytes);
}

}  // namespace gpumem
