// The blocks that are live now, by address.
//
// Thread-safe; each operation holds one of 16 locks for the length of one look-up. Memory comes from arenas: when
// their budget is used up, insert() says so and the block is not tracked.
// Knows nothing of CUDA, does no I/O.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/arena.hpp"
#include "base/spin_lock.hpp"
#include "track/memory_kind.hpp"

namespace gpumem {

struct Block {
  std::uint64_t address = 0;  // never 0 in the table
  std::uint64_t size = 0;     // bytes requested
  std::uint64_t number = 0;   // unique in the process, from 1
  std::uint32_t context = 0;  // 0: unknown
  std::int16_t device = no_device;
  MemoryKind kind = MemoryKind::device;
};

class LiveTable {
 public:
  enum class Inserted { fresh, replaced, no_memory };

  // Adds a block. A block that was live at the same address ends: it is given back in `displaced`.
  Inserted insert(const Block& block, Block& displaced);

  // Takes the block at this address out; false if there is none.
  bool take(AddressSpace space, std::uint64_t address, Block& taken);

  // Takes every block out that ends with this context, calling visit(const Block&) for each under a lock of the table.
  template <class Visit>
  void take_context(std::uint32_t context, Visit&& visit);

 private:
  struct Shard {
    SpinLock lock;
    Arena arena;
    Block* slots = nullptr;
    std::size_t capacity = 0;  // a power of two
    std::size_t live = 0;
  };

  static constexpr std::size_t shard_count = 16;
  Shard& shard_of(std::uint64_t hash) { return shards_[hash >> 60]; }
  static std::uint64_t hash(AddressSpace space, std::uint64_t address);
  static Block* find(Shard& shard, AddressSpace space, std::uint64_t address, std::uint64_t hash);
  static std::uint64_t hash(const Block& block) { return hash(address_space(block.kind), block.address); }
  static bool make_room(Shard& shard);
  static void remove(Shard& shard, std::size_t index);

  std::array<Shard, shard_count> shards_;
};

template <class Visit>
void LiveTable::take_context(std::uint32_t context, Visit&& visit) {
  for (Shard& shard : shards_) {
    LockGuard guard(shard.lock);
    for (std::size_t i = 0; i < shard.capacity;) {
      const Block& slot = shard.slots[i];
      if (slot.address == 0 || slot.context != context || !ends_with_context(slot.kind)) {
        ++i;
        continue;
      }
      visit(slot);
      remove(shard, i);  // what follows may move up to i
    }
  }
}

}  // namespace gpumem
