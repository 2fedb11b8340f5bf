// Keeps the journal small: begins its segments, and writes down in each what is live.
//
// A checkpoint is written in pieces, one along with each recorded call, so that no call waits for more than one piece:
// 64 call sites, or a 256th of the live blocks but at least 256. Where a segment has no room left before its checkpoint
// is complete, which takes a very small GPUMEM_JOURNAL_MAX, a call writes the rest of it, or waits for who does, up to
// 0.1 s.
#pragma once

#include <cstdint>

namespace gpumem {

struct Block;
struct Session;

// To be called after each recorded call, holding no lock.
void tend_journal(Session& session, std::uint64_t now_ns);

// At the end of the process: under GPUMEM_EVENTS=0 what is live then.
void write_last_checkpoint(Session& session);

// A block that was out of the table for a while comes back: a checkpoint may have missed it.
void write_block_again(Session& session, const Block& block);

}  // namespace gpumem
