#include "track/sites.hpp"

namespace gpumem {

Site* Sites::site_of(std::uint32_t stack, MemoryKind kind, int device) {
  const std::uint64_t key =
      std::uint64_t{stack} << 32 | static_cast<std::uint64_t>(kind) << 16 | static_cast<std::uint16_t>(device);
  std::uint64_t hash = key * 0x9e3779b97f4a7c15ull;
  hash ^= hash >> 32;
  return table_.intern(
      hash, sizeof(Site),
      [&](const Site& known) { return known.stack == stack && known.kind == kind && known.device == device; },
      [&](Site& fresh) {
        fresh.stack = stack;
        fresh.kind = kind;
        fresh.device = static_cast<std::int16_t>(device);
      });
}

void Sites::allocated(Site* site, std::uint64_t amount, std::uint64_t ns) {
  if (site == nullptr) return;
  site->live.fetch_add(amount, std::memory_order_relaxed);
  site->blocks.fetch_add(1, std::memory_order_relaxed);
  site->allocated.fetch_add(amount, std::memory_order_relaxed);
  if (site->allocs.fetch_add(1, std::memory_order_relaxed) == 0) site->first_ns.store(ns, std::memory_order_relaxed);
  site->last_ns.store(ns, std::memory_order_relaxed);
}

void Sites::ended(std::uint32_t number, std::uint64_t amount) {
  Site* site = table_.at(number);
  if (site == nullptr) return;
  site->live.fetch_sub(amount, std::memory_order_relaxed);
  site->blocks.fetch_sub(1, std::memory_order_relaxed);
}

void Sites::came_back(std::uint32_t number, std::uint64_t amount) {
  Site* site = table_.at(number);
  if (site == nullptr) return;
  site->live.fetch_add(amount, std::memory_order_relaxed);
  site->blocks.fetch_add(1, std::memory_order_relaxed);
}

Sites::Snapshot Sites::snapshot(int device) const {
  return {taken_ns_[slot(device)].load(std::memory_order_relaxed),
          taken_bytes_[slot(device)].load(std::memory_order_relaxed)};
}

// A thread that finds another one at it goes on: the next allocation of that size tries again.
void Sites::take_snapshot(int device, std::uint64_t ns) {
  if (!taking_.try_lock()) return;
  const std::size_t mine = slot(device);
  std::uint64_t sum = 0;
  for (std::uint32_t number = 1; Site* site = table_.at(number); ++number) {
    if (!Totals::is_summed(site->kind) || slot(site->device) != mine) continue;
    const std::uint64_t live = site->live.load(std::memory_order_relaxed);
    site->at_peak.store(live, std::memory_order_relaxed);
    site->blocks_at_peak.store(site->blocks.load(std::memory_order_relaxed), std::memory_order_relaxed);
    sum += live;
  }
  taken_ns_[mine].store(ns, std::memory_order_relaxed);
  taken_bytes_[mine].store(sum, std::memory_order_relaxed);
  due_[mine].store(sum + sum / 100, std::memory_order_relaxed);
  taking_.unlock();
}

}  // namespace gpumem
