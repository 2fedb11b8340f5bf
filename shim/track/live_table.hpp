// The blocks that are live now, by address.
//
// Thread-safe; each operation holds one of 256 locks for the length of one look-up. Memory comes from arenas: when
// their budget is used up, insert() says so and the block is not tracked. No operation on one block takes longer than
// moving a 256th of the table.
// Knows nothing of CUDA, does no I/O.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/arena.hpp"
#include "base/spin_lock.hpp"
#include "track/memory_kind.hpp"

namespace gpumem {

// What lines call a block by, and what it belongs to.
struct BlockIdentity {
  bool has_address = false;
  std::uint64_t address = 0;
  std::uint64_t owner = 0;  // number of a block; 0: none
};

// A block of memory, or an object that is counted like one.
struct Block {
  std::uint64_t address = 0;  // or handle; never 0 in the table
  std::uint64_t size = 0;     // bytes requested
  std::uint64_t number = 0;   // unique in the process, from 1
  std::uint64_t owner = 0;    // number of the block that this one belongs to; 0: none
  std::uint32_t context = 0;  // number of the context that it ends with; 0: it outlives contexts
  std::uint32_t references = 1;
  std::int16_t device = no_device;
  MemoryKind kind = MemoryKind::device;
  AddressSpace space : 7 = AddressSpace::device;
  bool owns : 1 = false;   // other blocks belong to it
  std::uint32_t site = 0;  // number of its call site; 0: none
  std::uint32_t born = 0;  // when, in units of born_unit_ns since the session's start
  std::uint32_t thread = 0;

  static constexpr std::uint64_t born_unit_ns = std::uint64_t{1} << 24;

  // Keys of ours mean nothing to the reader, and physical memory is known by the handle that it was made with.
  BlockIdentity identity() const {
    if (space == AddressSpace::tiles || space == AddressSpace::bindings) return {false, 0, owner};
    if (space == AddressSpace::physical) return {true, owner, 0};
    return {true, address, owner};
  }

  // What its kind's total changes by.
  std::uint64_t amount() const { return is_object(kind) ? 1 : size; }
};

class LiveTable {
 public:
  enum class Inserted { fresh, replaced, no_memory };
  enum class Released { unknown, still_referenced, ended };

  // Adds a block. A block that was live at the same address of the same space ends: it is given back in `displaced`.
  Inserted insert(const Block& block, Block& displaced);

  // The block at this address as it is now; false if there is none.
  bool find(AddressSpace space, std::uint64_t address, Block& found);

  // Takes the block at this address out; false if there is none.
  bool take(AddressSpace space, std::uint64_t address, Block& taken);

  // Takes one reference from it, and it out with the last; `block` is what it was before.
  Released release(AddressSpace space, std::uint64_t address, Block& block);

  // Calls change(Block&) for the block at this address, under a lock of the table; false if there is none. The change
  // must leave address and space as they are.
  template <class Change>
  bool change(AddressSpace space, std::uint64_t address, Change&& change);

  // Takes every block out for which wanted(const Block&) holds, calling visit(const Block&) for each. Both run under a
  // lock of the table. Looks at every block.
  template <class Wanted, class Visit>
  void take_where(Wanted&& wanted, Visit&& visit);

  // Some block for which wanted(const Block&) holds; false if there is none. Looks at every block.
  template <class Wanted>
  bool find_where(Wanted&& wanted, Block& found);

  // Copies the blocks of one part of the table, of `part_count` that are about equally large, for as long as
  // take(const Block&) says true. Blocks never move from one part to another.
  static constexpr std::size_t part_count = 256;
  template <class Take>
  void for_each_in_part(std::size_t part, Take&& take);

  // Blocks, roughly: others may be coming and going.
  std::size_t size() const;

 private:
  struct Shard {
    SpinLock lock;
    Block* slots = nullptr;
    std::size_t capacity = 0;  // a power of two
    std::atomic<std::size_t> live{0};
  };
  // Of several shards; its lock is taken inside theirs.
  struct Memory {
    SpinLock lock;
    Arena arena;
  };

  static constexpr std::size_t memory_count = 16;
  Shard& shard_of(std::uint64_t hash) { return shards_[hash >> 56]; }
  static std::uint64_t hash(AddressSpace space, std::uint64_t address);
  static Block* find(Shard& shard, AddressSpace space, std::uint64_t address, std::uint64_t hash);
  static std::uint64_t hash(const Block& block) { return hash(block.space, block.address); }
  bool make_room(Shard& shard);
  static void remove(Shard& shard, std::size_t index);

  std::array<Shard, part_count> shards_;
  std::array<Memory, memory_count> memory_;
};

static_assert(sizeof(Block) == 56);

template <class Change>
bool LiveTable::change(AddressSpace space, std::uint64_t address, Change&& change) {
  const std::uint64_t h = hash(space, address);
  Shard& shard = shard_of(h);
  LockGuard guard(shard.lock);
  Block* slot = find(shard, space, address, h);
  if (slot != nullptr) change(*slot);
  return slot != nullptr;
}

template <class Wanted, class Visit>
void LiveTable::take_where(Wanted&& wanted, Visit&& visit) {
  for (Shard& shard : shards_) {
    LockGuard guard(shard.lock);
    for (std::size_t i = 0; i < shard.capacity;) {
      const Block& slot = shard.slots[i];
      if (slot.address == 0 || !wanted(slot)) {
        ++i;
        continue;
      }
      visit(slot);
      remove(shard, i);  // what follows may move up to i
    }
  }
}

template <class Wanted>
bool LiveTable::find_where(Wanted&& wanted, Block& found) {
  for (Shard& shard : shards_) {
    LockGuard guard(shard.lock);
    for (std::size_t i = 0; i < shard.capacity; ++i) {
      if (shard.slots[i].address == 0 || !wanted(shard.slots[i])) continue;
      found = shard.slots[i];
      return true;
    }
  }
  return false;
}

template <class Take>
void LiveTable::for_each_in_part(std::size_t part, Take&& take) {
  Shard& shard = shards_[part];
  LockGuard guard(shard.lock);
  for (std::size_t i = 0; i < shard.capacity; ++i)
    if (shard.slots[i].address != 0 && !take(shard.slots[i])) return;
}

}  // namespace gpumem
