#include "track/live_table.hpp"

namespace gpumem {

std::uint64_t LiveTable::hash(AddressSpace space, std::uint64_t address) {
  std::uint64_t h = (address ^ (static_cast<std::uint64_t>(space) << 58)) * 0x9e3779b97f4a7c15ull;
  h ^= h >> 32;
  return h * 0xd6e8feb86659fd93ull;
}

Block* LiveTable::find(Shard& shard, AddressSpace space, std::uint64_t address, std::uint64_t h) {
  if (shard.capacity == 0 || address == 0) return nullptr;
  for (std::size_t i = h;; ++i) {
    Block& slot = shard.slots[i & (shard.capacity - 1)];
    if (slot.address == address && slot.space == space) return &slot;
    if (slot.address == 0) return nullptr;
  }
}

// Closes the gap, so that no probe needs a trace of what was there: every later block of the run moves up if its place
// allows.
void LiveTable::remove(Shard& shard, std::size_t gap) {
  const std::size_t mask = shard.capacity - 1;
  for (std::size_t i = (gap + 1) & mask; shard.slots[i].address != 0; i = (i + 1) & mask) {
    const std::size_t home = hash(shard.slots[i]) & mask;
    if (((i - home) & mask) < ((i - gap) & mask)) continue;
    shard.slots[gap] = shard.slots[i];
    gap = i;
  }
  shard.slots[gap].address = 0;
  shard.live.fetch_sub(1, std::memory_order_relaxed);
}

// Keeps at least a quarter of the slots empty, so that every probe ends.
bool LiveTable::make_room(Shard& shard) {
  if ((shard.live.load(std::memory_order_relaxed) + 1) * 4 <= shard.capacity * 3) return true;
  Memory& memory = memory_[static_cast<std::size_t>(&shard - shards_.data()) % memory_count];
  LockGuard guard(memory.lock);
  const std::size_t capacity = shard.capacity == 0 ? 8 : shard.capacity * 2;
  Block* slots = memory.arena.take_array<Block>(capacity);
  if (slots == nullptr) return false;
  for (std::size_t i = 0; i < shard.capacity; ++i) {
    if (shard.slots[i].address == 0) continue;
    std::size_t to = hash(shard.slots[i]);
    while (slots[to & (capacity - 1)].address != 0) ++to;
    slots[to & (capacity - 1)] = shard.slots[i];
  }
  memory.arena.give_back(shard.slots, shard.capacity * sizeof(Block));
  shard.slots = slots;
  shard.capacity = capacity;
  return true;
}

LiveTable::Inserted LiveTable::insert(const Block& block, Block& displaced) {
  const std::uint64_t h = hash(block);
  Shard& shard = shard_of(h);
  LockGuard guard(shard.lock);
  if (Block* present = find(shard, block.space, block.address, h)) {
    displaced = *present;
    *present = block;
    return Inserted::replaced;
  }
  if (!make_room(shard)) return Inserted::no_memory;
  std::size_t i = h;
  while (shard.slots[i & (shard.capacity - 1)].address != 0) ++i;
  shard.slots[i & (shard.capacity - 1)] = block;
  shard.live.fetch_add(1, std::memory_order_relaxed);
  return Inserted::fresh;
}

bool LiveTable::find(AddressSpace space, std::uint64_t address, Block& found) {
  return change(space, address, [&](const Block& block) { found = block; });
}

bool LiveTable::take(AddressSpace space, std::uint64_t address, Block& taken) {
  const std::uint64_t h = hash(space, address);
  Shard& shard = shard_of(h);
  LockGuard guard(shard.lock);
  Block* slot = find(shard, space, address, h);
  if (slot == nullptr) return false;
  taken = *slot;
  remove(shard, static_cast<std::size_t>(slot - shard.slots));
  return true;
}

LiveTable::Released LiveTable::release(AddressSpace space, std::uint64_t address, Block& block) {
  const std::uint64_t h = hash(space, address);
  Shard& shard = shard_of(h);
  LockGuard guard(shard.lock);
  Block* slot = find(shard, space, address, h);
  if (slot == nullptr) return Released::unknown;
  block = *slot;
  if (--slot->references > 0) return Released::still_referenced;
  remove(shard, static_cast<std::size_t>(slot - shard.slots));
  return Released::ended;
}

std::size_t LiveTable::size() const {
  std::size_t blocks = 0;
  for (const Shard& shard : shards_) blocks += shard.live.load(std::memory_order_relaxed);
  return blocks;
}

}  // namespace gpumem
