#include "track/live_table.hpp"

namespace gpumem {

std::uint64_t LiveTable::hash(AddressSpace space, std::uint64_t address) {
  std::uint64_t h = (address ^ (static_cast<std::uint64_t>(space) << 63)) * 0x9e3779b97f4a7c15ull;
  h ^= h >> 32;
  return h * 0xd6e8feb86659fd93ull;
}

Block* LiveTable::find(Shard& shard, AddressSpace space, std::uint64_t address, std::uint64_t h) {
  if (shard.capacity == 0) return nullptr;
  for (std::size_t i = h;; ++i) {
    Block& slot = shard.slots[i & (shard.capacity - 1)];
    if (slot.address == address && address_space(slot.kind) == space) return &slot;
    if (slot.address == 0) return nullptr;
  }
}

void LiveTable::remove(Shard& shard, Block& slot) {
  slot.address = deleted;
  --shard.live;
}

// Keeps at least a quarter of the slots empty, so that every probe ends.
bool LiveTable::make_room(Shard& shard) {
  if ((shard.used + 1) * 4 <= shard.capacity * 3) return true;
  std::size_t capacity = shard.capacity == 0 ? 64 : shard.capacity;
  while ((shard.live + 1) * 2 > capacity) capacity *= 2;
  Block* slots = shard.arena.take_array<Block>(capacity);
  if (slots == nullptr) return false;
  Block* old = shard.slots;
  const std::size_t old_capacity = shard.capacity;
  shard.slots = slots;
  shard.capacity = capacity;
  shard.used = shard.live;
  for (std::size_t i = 0; i < old_capacity; ++i) {
    if (old[i].address <= deleted) continue;
    std::size_t to = hash(address_space(old[i].kind), old[i].address);
    while (slots[to & (capacity - 1)].address != 0) ++to;
    slots[to & (capacity - 1)] = old[i];
  }
  return true;
}

LiveTable::Inserted LiveTable::insert(const Block& block, Block& displaced) {
  const AddressSpace space = address_space(block.kind);
  const std::uint64_t h = hash(space, block.address);
  Shard& shard = shard_of(h);
  LockGuard guard(shard.lock);
  if (Block* present = find(shard, space, block.address, h)) {
    displaced = *present;
    *present = block;
    return Inserted::replaced;
  }
  if (!make_room(shard)) return Inserted::no_memory;
  std::size_t i = h;
  while (shard.slots[i & (shard.capacity - 1)].address > deleted) ++i;
  Block& slot = shard.slots[i & (shard.capacity - 1)];
  if (slot.address == 0) ++shard.used;
  slot = block;
  ++shard.live;
  return Inserted::fresh;
}

bool LiveTable::take(AddressSpace space, std::uint64_t address, Block& taken) {
  const std::uint64_t h = hash(space, address);
  Shard& shard = shard_of(h);
  LockGuard guard(shard.lock);
  Block* slot = address > deleted ? find(shard, space, address, h) : nullptr;
  if (slot == nullptr) return false;
  taken = *slot;
  remove(shard, *slot);
  return true;
}

}  // namespace gpumem
