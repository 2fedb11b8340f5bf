#include "analyze/live_table.hpp"

#include <algorithm>

#include "schema.hpp"

namespace gpumem {
namespace {

bool ends_with_its_context(const std::string& kind) {
  return kind == schema::kind::device || kind == schema::kind::managed;
}

Usage one_block(const LiveBlock& block) { return {1, block.bytes}; }

}  // namespace

void LiveTable::take(const EventRecord& event, bool after_end) {
  if (event.op == schema::op::alloc) allocate(event);
  if (event.op == schema::op::free) release(event, after_end);
  if (event.op == schema::op::context_end) drop_context(event);
}

void LiveTable::change(const LiveBlock& block, Usage delta, std::uint64_t ns) {
  Total& of = totals_[block.site.total];
  CallSite& site = sites_[block.site];
  of.live += delta;
  of.threads[block.tid].add(delta, of.peaks);
  site.live.add(delta, of.peaks);
  site.growth.record(ns, site.live.now().bytes);
}

LiveTable::Blocks::iterator LiveTable::remove(Blocks::iterator found, std::uint64_t ns) {
  const auto& [number, block] = *found;
  change(block, -one_block(block), ns);
  if (block.free_failed) sites_[block.site].free_failed += -one_block(block);
  const auto at_address = by_address_.find({block.site.total.kind, block.address});
  if (at_address != by_address_.end() && at_address->second == number) by_address_.erase(at_address);
  return blocks_.erase(found);
}

void LiveTable::allocate(const EventRecord& event) {
  if (event.untracked) untracked_ += {1, static_cast<std::int64_t>(event.bytes)};
  if (!event.block || event.untracked) return;
  const BlockNumber number = *event.block;
  if (blocks_.contains(number)) return;  // the journal contradicts itself: its first line stands
  LiveBlock block{{{event.device, event.kind}, event.stack},
                  static_cast<std::int64_t>(event.bytes),
                  event.address,
                  event.context.value_or(0),
                  event.tid};
  CallSite& site = sites_[block.site];
  if (site.allocated.blocks == 0) site.first_ns = event.ns;
  site.last_ns = event.ns;
  site.allocated += one_block(block);
  Total& of = totals_[block.site.total];
  of.allocated += one_block(block);

  if (freed_before_alloc_.erase(number) > 0) {
    site.freed += one_block(block);
    return;
  }
  // The driver hands an address out again only after its block has ended, whether or not a line says so.
  const auto old = event.address ? by_address_.find({event.kind, event.address}) : by_address_.end();
  if (old != by_address_.end()) {
    const auto ended = blocks_.find(old->second);
    overwritten_.insert(*ended);
    sites_[ended->second.site].overwritten += one_block(ended->second);
    remove(ended, event.ns);
  }
  if (event.address) by_address_[{event.kind, event.address}] = number;
  change(block, one_block(block), event.ns);
  blocks_.emplace(number, std::move(block));
  note_peak({event.device, event.kind}, of, event);
}

void LiveTable::note_peak(const TotalKey& key, Total& of, const EventRecord& event) {
  const auto replayed = static_cast<std::uint64_t>(std::max<std::int64_t>(0, of.live.bytes));
  const std::uint64_t bytes = event.live_after.value_or(replayed);
  if (bytes <= of.peak.bytes) return;
  of.peak.ns = event.ns;
  of.peak.bytes = bytes;
  of.peak.replayed = replayed;
  of.peak.beside.clear();
  ++of.peaks;
  for (const auto& [other, state] : totals_) {
    const bool is_beside = other != key && (!other.device || other.device == key.device);
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
    if (value.context != *event.context || !ends_with_its_context(value.site.total.kind)) {
      ++block;
      continue;
    }
    drop.dropped += one_block(value);
    sites_[value.site].dropped += one_block(value);
    remember_end(value, event, true);
    block = remove(block, event.ns);
  }
  context_drops_.push_back(std::move(drop));
}

void LiveTable::remember_end(const LiveBlock& block, const EventRecord& event, bool with_context) {
  if (block.address == 0) return;
  const PointerHistory::Ended ended{event.ns, event.api, event.tid, event.stack, block.site.stack, with_context};
  const bool is_new = ended_.insert_or_assign(block.address, ended).second;
  if (!is_new) return;
  ended_order_.push_back(block.address);
  if (ended_order_.size() <= most_ended) return;
  ended_.erase(ended_order_.front());
  ended_order_.pop_front();
}

LiveTable::Blocks::iterator LiveTable::find_freed(const FailureRecord& failure) {
  if (failure.block) return blocks_.find(*failure.block);
  if (failure.address == 0) return blocks_.end();
  // The line of a failed free need not name the kind; under unified addressing no two kinds share an address.
  for (const auto& [key, _] : totals_) {
    if (!failure.kind.empty() && key.kind != failure.kind) continue;
    const auto at_address = by_address_.find({key.kind, failure.address});
    if (at_address != by_address_.end()) return blocks_.find(at_address->second);
  }
  return blocks_.end();
}

PointerHistory LiveTable::take_failed_free(const FailureRecord& failure, bool shutting_down) {
  const auto found = find_freed(failure);
  PointerHistory history;
  if (found == blocks_.end()) {
    if (const auto ended = ended_.find(failure.address); ended != ended_.end()) history.ended = ended->second;
    return history;
  }
  LiveBlock& block = found->second;
  CallSite& site = sites_[block.site];
  if (shutting_down) {
    site.freed_at_exit += one_block(block);
    remove(found, failure.ns);
    return history;
  }
  history.is_live = true;
  if (!block.free_failed) {
    block.free_failed = true;
    site.free_failed += one_block(block);
  }
  return history;
}

HeldThen LiveTable::held_on(DeviceOrdinal device) const {
  constexpr std::size_t most_sites = 5;
  HeldThen held;
  for (const auto& [key, of] : totals_) {
    if (key.device == device && key.kind != schema::kind::pinned) held.bytes += of.live.bytes;
  }
  for (const auto& [key, site] : sites_) {
    const bool is_there = key.total.device == device && key.total.kind != schema::kind::pinned;
    if (is_there && site.live.now().blocks > 0) held.largest.push_back({key, site.live.now()});
  }
  std::stable_sort(held.largest.begin(), held.largest.end(),
                   [](const auto& a, const auto& b) { return a.amount.bytes > b.amount.bytes; });
  if (held.largest.size() > most_sites) held.largest.resize(most_sites);
  return held;
}

std::uint64_t LiveTable::freed_bytes(const TotalKey& key) const {
  const auto found = totals_.find(key);
  return found == totals_.end() ? 0
                                : static_cast<std::uint64_t>(found->second.allocated.bytes - found->second.live.bytes);
}

}  // namespace gpumem
