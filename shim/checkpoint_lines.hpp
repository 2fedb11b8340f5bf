// The lines of a checkpoint, for who decides when they are written. docs/FORMAT.md says what is in them.
//
// Each goes into the segment that the checkpoint belongs to, and false says that it is not there. But for
// write_live_line() the caller holds the checkpoint's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "journal/line.hpp"

namespace gpumem {

struct Block;
struct Session;
struct Site;

// {"t":"checkpoint",…,"part":…,"n":…
void open_checkpoint_line(Line& line, const Session& session, std::string_view part);

bool write_checkpoint_begin(Session& session);
bool write_checkpoint_end(Session& session);

// Nothing where the site has never allocated.
bool write_site(Session& session, const Site& site);

// Of blocks that can stand in one line, those that fit; how many, 0 if they could not be written.
std::size_t write_live_line(Session& session, const Block* blocks, std::size_t count, std::uint32_t segment);

// Blocks in this order are in as few lines as may be.
bool in_order_of_lines(const Block& a, const Block& b);

}  // namespace gpumem
