#include "checkpoint.hpp"

#include <algorithm>

#include "api/settings.hpp"
#include "base/pages.hpp"
#include "checkpoint_lines.hpp"
#include "journal/schema.hpp"
#include "process_line.hpp"
#include "session.hpp"
#include "stack_lines.hpp"

namespace gpumem {
namespace {

constexpr std::size_t sites_at_once = 64;
constexpr std::size_t blocks_at_once = 256;
// What lines take, about.
constexpr std::size_t bytes_of_block = 64;
constexpr std::size_t bytes_of_site = 600;
constexpr int most_waits = 1000;  // of some 0.1 ms
constexpr std::size_t bytes_at_least = 16 * 1024;

// The caller holds the checkpoint's lock.
bool begin_checkpoint(Session& session, bool lists_blocks) {
  CheckpointState& state = session.checkpoint;
  ++state.number;
  state.segment = session.journal.segment();
  state.lists_blocks = lists_blocks;
  state.next_site = 1;
  state.next_part = 0;
  state.sites = state.blocks = 0;
  return write_checkpoint_begin(session);
}

// Handles and captures are entries of our own.
bool is_told(const Block& block) {
  return block.space != AddressSpace::handles && block.space != AddressSpace::captures;
}

// The blocks are copied under the table's lock and written without it.
bool write_part_of_blocks(Session& session, std::size_t part) {
  const std::size_t room = session.live.size() / LiveTable::part_count * 2 + 1024;
  const Pages buffer(room * sizeof(Block));
  if (!buffer) return false;
  auto* blocks = reinterpret_cast<Block*>(buffer.begin());
  std::size_t count = 0;
  session.live.for_each_in_part(part, [&](const Block& block) {
    if (is_told(block)) blocks[count++] = block;
    return count < room;
  });
  std::sort(blocks, blocks + count, in_order_of_lines);
  for (std::size_t i = 0; i < count;) {
    const std::size_t taken = write_live_line(session, blocks + i, count - i, session.checkpoint.segment);
    if (taken == 0) return false;
    i += taken;
  }
  session.checkpoint.blocks += count;
  return count < room;
}

enum class Piece { more, complete, refused };

Piece write_piece(Session& session) {
  CheckpointState& state = session.checkpoint;
  if (const std::uint32_t sites = session.sites.count(); state.next_site <= sites) {
    for (std::size_t i = 0; i < sites_at_once && state.next_site <= sites; ++i, ++state.next_site) {
      const Site* site = session.sites.at(state.next_site);
      if (site != nullptr && !write_site(session, *site)) return Piece::refused;
    }
    return Piece::more;
  }
  if (state.next_part == 0) session.journal.end_of_beginning();
  const std::uint64_t before = state.blocks;
  while (state.lists_blocks && state.next_part < LiveTable::part_count) {
    if (!write_part_of_blocks(session, state.next_part)) return Piece::refused;
    ++state.next_part;
    if (state.blocks >= before + blocks_at_once) return Piece::more;
  }
  return write_checkpoint_end(session) ? Piece::complete : Piece::refused;
}

// The caller holds the checkpoint's lock. One that is refused stays incomplete, and what is before it stays whole.
void go_on(Session& session) {
  const Piece piece = write_piece(session);
  if (piece == Piece::more) return;
  if (piece == Piece::complete) session.journal.free_earlier_segments();
  session.checkpoint.open.store(false, std::memory_order_relaxed);
}

void begin_segment(Session& session, std::uint64_t now_ns) {
  const std::size_t room = session.journal.largest_checkpoint();
  const std::size_t of_sites = std::min(session.sites.count() * bytes_of_site, room);
  const std::size_t of_blocks = session.live.size() * bytes_of_block;
  const bool lists_blocks = settings().events && of_sites + of_blocks <= room;
  const Pages buffer(StandingLines::capacity + 32 * 1024);
  if (!buffer) return;
  Line first(buffer.begin(), buffer.size());
  write_process_again(first, session, session.journal.segment() + 1);
  session.standing.give([&](std::string_view lines) { first.put(lines); });
  char cut_buffer[256];
  Line cut(cut_buffer, sizeof cut_buffer);
  open_checkpoint_line(cut, session, schema::part::cut);
  cut.close();
  const std::size_t for_checkpoint = bytes_at_least + of_sites + (lists_blocks ? of_blocks : 0);
  if (!first.fits()) return;
  // Before other threads write to the new segment: they wait for its checkpoint where it fills up first.
  CheckpointState& state = session.checkpoint;
  state.open.store(true, std::memory_order_relaxed);
  const bool has_begun = session.journal.begin_segment(first.view(), for_checkpoint, cut.view(), now_ns);
  state.open.store(has_begun && begin_checkpoint(session, lists_blocks), std::memory_order_relaxed);
}

class TryGuard {
 public:
  TryGuard(SpinLock& lock, int attempts) : lock_(lock), holds_(lock.try_lock()) {
    for (int i = 1; i < attempts && !holds_; ++i) {
      SpinLock::rest();
      holds_ = lock.try_lock();
    }
  }
  ~TryGuard() {
    if (holds_) lock_.unlock();
  }
  explicit operator bool() const { return holds_; }

 private:
  SpinLock& lock_;
  bool holds_;
};

bool is_due(Session& session, std::uint64_t now_ns) {
  return !settings().events && now_ns >= session.checkpoint.due_ns.load(std::memory_order_relaxed);
}

// After 1, 2, 4 … seconds at first.
void set_next_due(Session& session, std::uint64_t now_ns) {
  const std::uint64_t first = session.start_ns + 1000 * ns_per_millisecond;
  const std::uint64_t longest = static_cast<std::uint64_t>(settings().checkpoint_every) * ns_per_millisecond;
  session.checkpoint.due_ns.store(now_ns < first ? first : now_ns + std::min(now_ns - session.start_ns, longest),
                                  std::memory_order_relaxed);
}

}  // namespace

void tend_journal(Session& session, std::uint64_t now_ns) {
  CheckpointState& state = session.checkpoint;
  const bool wants_segment = session.journal.wants_new_segment(now_ns);
  if (!wants_segment && !state.open.load(std::memory_order_relaxed) && !is_due(session, now_ns)) return;
  // Whoever is at it may have been interrupted, and the newest segment must not fill up meanwhile.
  const TryGuard guard(state.lock, session.journal.is_pressed() ? most_waits : 1);
  if (!guard) return;
  if (state.open.load(std::memory_order_relaxed)) {
    do go_on(session);
    while (state.open.load(std::memory_order_relaxed) && session.journal.is_pressed());
    return;
  }
  if (session.journal.wants_new_segment(now_ns)) return begin_segment(session, now_ns);
  if (!is_due(session, now_ns)) return;
  const bool is_first_look = state.due_ns.load(std::memory_order_relaxed) == 0;
  set_next_due(session, now_ns);
  if (!is_first_look) state.open.store(begin_checkpoint(session, false), std::memory_order_relaxed);
}

void write_last_checkpoint(Session& session) {
  CheckpointState& state = session.checkpoint;
  if (settings().events) return;
  LockGuard guard(state.lock);
  if (!state.open.load(std::memory_order_relaxed))
    state.open.store(begin_checkpoint(session, false), std::memory_order_relaxed);
  while (state.open.load(std::memory_order_relaxed)) go_on(session);
}

void write_block_again(Session& session, const Block& block) {
  if (session.journal.segment() == 0 || !settings().events || !is_told(block)) return;
  const Site* site = session.sites.at(block.site);
  write_with_stack(session, site != nullptr ? site->stack : 0,
                   [&](std::uint32_t segment) { return write_live_line(session, &block, 1, segment) != 0; });
}

}  // namespace gpumem
