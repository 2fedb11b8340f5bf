// Blocks and objects: their beginning, references and end, in the tables and as lines.
#pragma once

#include <cstdint>
#include <string_view>

#include "record/events.hpp"
#include "session.hpp"
#include "track/live_table.hpp"

namespace gpumem {

// A block as the call's effect describes it, without an address: device and context are those of the place where they
// mean something for its kind.
Block block_of(const Call& call, const Place& place);

// Numbers the block unless it has a number, adds it to the tables and writes its line. The number; 0 if the table has
// no room for it or it has no address.
std::uint64_t begin_block(Session& session, const Call& call, Block block);

// What has left the live table leaves its total too, and comes back with it.
void count_out(Session& session, const Block& block);
void put_back(Session& session, const Block& block);

// The line of a block that has left the tables.
void write_end_of_block(Session& session, const Call& call, const Block& block);

// A block that stays live has got or lost a reference: `block` is what it is now.
void write_reference(Session& session, const Call& call, std::string_view op, const Block& block);

// A release of something that the tables do not know.
void write_unknown_release(Session& session, const Call& call);

// The number of the block at this address, or 0.
std::uint64_t number_at(Session& session, AddressSpace space, std::uint64_t address);

// The block that this address lies in; false if there is none.
bool block_containing(Session& session, AddressSpace space, std::uint64_t address, Block& found);

// Marks the block at this address as one that others belong to; its number, or 0.
std::uint64_t make_owner(Session& session, AddressSpace space, std::uint64_t address);

// Takes a reference to physical memory away, and writes what that means.
void release_physical_memory(Session& session, const Call& call, std::uint64_t number);

// Mappings into sparse arrays, and bindings to a multicast object, have keys of ours: those of one array or object
// begin alike.
std::uint64_t part_key(std::uint64_t whole_number, std::uint64_t part);
void end_parts(Session& session, const Call& call, AddressSpace space, std::uint64_t whole_number);

// What has left the live table by itself: its total, its line, and its reference to physical memory.
void end_block(Session& session, const Call& call, const Block& block);

// Ends every block for which wanted(const Block&) holds, each with a line of its own. The lines are written outside
// the table's locks.
template <class Wanted>
void end_blocks(Session& session, const Call& call, Wanted&& wanted) {
  constexpr std::size_t most = 64;
  Block ended[most];
  std::size_t count = most;
  while (count == most) {
    count = 0;
    session.live.take_where([&](const Block& block) { return count < most && wanted(block); },
                            [&](const Block& block) { ended[count++] = block; });
    for (std::size_t i = 0; i < count; ++i) end_block(session, call, ended[i]);
  }
}

}  // namespace gpumem
