#include "journal/journal.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include <unistd.h>

#include "journal/schema.hpp"

namespace gpumem {
namespace {

constexpr std::size_t page_size = SegmentFile::page_size;
constexpr std::size_t first_piece = 64 * 1024;
constexpr std::size_t largest_piece = 256 * 1024;
constexpr std::size_t most_kept_for_essential = 16 * 1024;
constexpr std::size_t most_ever = std::size_t{64} << 30;
constexpr unsigned segments_in_all = 8;

// What another attempt may find gone.
bool may_pass(int error) { return error == EMFILE || error == ENFILE || error == EINTR || error == ENOMEM; }

}  // namespace

void Journal::write_path(char (&path)[4096], std::uint32_t segment) const {
  std::memcpy(path, path_, sizeof path);
  if (segment == 0) return;
  char* end = std::to_chars(path + stem_size_, path + sizeof path, segment).ptr;
  std::memcpy(end, schema::journal_suffix.data(), schema::journal_suffix.size());
  end[schema::journal_suffix.size()] = '\0';
}

// Beyond its share of events a segment has room for what is written until the next one has begun.
std::size_t Journal::capacity_for(std::size_t for_checkpoint) const {
  if (largest_ < least_for_segments) return largest_;
  const std::size_t share = largest_ / segments_in_all;
  return SegmentFile::whole_pages(share + share / 4 + for_checkpoint);
}

bool Journal::open_slot(std::size_t number, std::uint32_t segment, std::size_t for_checkpoint) {
  Slot& slot = slots_[number];
  const std::size_t wanted = capacity_for(for_checkpoint);
  std::size_t capacity = wanted;
  const std::size_t first = std::min(first_piece, capacity);
  write_path(slot.path, segment);
  if (!slot.file.create(slot.path, first, capacity, writing_)) return false;
  slot.segment = segment;
  slot.capacity.store(capacity, std::memory_order_relaxed);
  slot.share.store(capacity == wanted ? largest_ / segments_in_all + for_checkpoint : capacity - capacity / 5,
                   std::memory_order_relaxed);
  slot.beginning = 0;
  slot.reserved.store(slot.file.is_mapped() ? first : capacity, std::memory_order_relaxed);
  slot.written.store(0, std::memory_order_relaxed);
  slot.kept_for_checkpoint.store(std::min(for_checkpoint, capacity / 2), std::memory_order_relaxed);
  slot.full.store(false, std::memory_order_relaxed);
  slot.lost.store(false, std::memory_order_relaxed);
  slot.closed_at.store(open, std::memory_order_release);
  return true;
}

bool Journal::create(const char* path, std::size_t largest, SegmentFile::Writing writing) {
  const std::size_t length = std::strlen(path);
  constexpr std::size_t room_for_number = 16;
  if (length + room_for_number >= sizeof path_) {
    errno = ENAMETOOLONG;
    return false;
  }
  std::memcpy(path_, path, length + 1);
  const std::string_view name(path, length);
  stem_size_ = length - (name.ends_with(schema::journal_suffix) ? schema::journal_suffix.size() + 1 : 0);
  writing_ = writing;
  largest_ = std::clamp(largest & ~(page_size - 1), page_size, most_ever);
  const std::size_t wanted = capacity_for(0);
  if (!open_slot(0, 0, 0)) return false;
  // Where addresses are scarce, its segments are as small as the first one has become.
  const std::size_t capacity = slots_[0].capacity.load(std::memory_order_relaxed);
  if (capacity < wanted) largest_ = largest_ >= least_for_segments ? capacity / 5 * 4 * segments_in_all : capacity;
  kept_for_essential_ = std::min(capacity / 4, most_kept_for_essential);
  return true;
}

bool Journal::grow(Position at, std::size_t needed) {
  LockGuard guard(growing_);
  if (position().segment() != at.segment()) return true;  // look again
  Slot& slot = slots_[at.slot()];
  const std::size_t have = slot.reserved.load(std::memory_order_relaxed);
  if (needed <= have) return true;
  if (slot.full.load(std::memory_order_relaxed)) return false;
  std::size_t size = have + (have < largest_piece ? have : largest_piece);
  size = std::min(SegmentFile::whole_pages(std::max(size, needed)), slot.capacity.load(std::memory_order_relaxed));
  if (size < needed) return false;
  if (slot.file.reserve(slot.path, have, size)) {
    slot.reserved.store(size, std::memory_order_release);
    return true;
  }
  if (errno == ESTALE) slot.lost.store(true, std::memory_order_release);
  slot.full.store(!may_pass(errno), std::memory_order_release);
  return false;
}

bool Journal::write(Position at, std::string_view line, std::uint64_t now_ns) {
  constexpr std::uint64_t look_every_ns = 10'000;
  Slot& slot = slots_[at.slot()];
  bool there = !slot.lost.load(std::memory_order_relaxed);
  if (there && now_ns >= looked_ns_.load(std::memory_order_relaxed) + look_every_ns) {
    looked_ns_.store(now_ns, std::memory_order_relaxed);
    there = slot.file.has_page_of(at.offset() + line.size() - 1);
    if (!there) slot.lost.store(true, std::memory_order_release);
  }
  if (there && slot.file.is_mapped()) {
    slot.file.write(nullptr, at.offset(), line);
  } else if (there) {
    there = slot.file.write(slot.path, at.offset(), line);
    if (!there && errno == ESTALE) slot.lost.store(true, std::memory_order_release);
  }
  slot.written.fetch_add(line.size(), std::memory_order_release);
  return there;
}

// What happens without end, such as a call that fails in a loop, must leave room for the process's end; and events for
// the checkpoint, without which no segment before it can go.
std::size_t Journal::left_alone_by(Importance importance, const Slot& slot) const {
  switch (importance) {
    case Importance::ordinary: return kept_for_essential_ + slot.kept_for_checkpoint.load(std::memory_order_relaxed);
    case Importance::notable: return kept_for_essential_ / 2;
    default: return 0;
  }
}

bool Journal::append(std::string_view line, Importance importance, std::uint32_t expected, std::uint64_t now_ns) {
  const bool may_wait = importance != Importance::last_words;
  Position at = position();
  for (;;) {
    if (expected != any_segment && at.segment() != expected) return false;
    if (at.offset() == Position::trimming) {
      if (!may_wait) return false;
      SpinLock::rest();
      at = position();
      continue;
    }
    Slot& slot = slots_[at.slot()];
    const std::size_t end = at.offset() + line.size();
    const std::size_t wanted = end + left_alone_by(importance, slot);
    if (wanted > slot.reserved.load(std::memory_order_acquire)) {
      if (!may_wait || !grow(at, wanted)) return false;
      at = position();
      continue;
    }
    std::uint64_t bits = at.bits();
    if (position_.compare_exchange_weak(bits, bits + line.size(), std::memory_order_acq_rel)) {
      // A trim may have come between the look at `reserved` and the exchange, and left the position as it was.
      if (end <= slot.reserved.load(std::memory_order_acquire) || (may_wait && grow(at, end)))
        return write(at, line, now_ns);
      slot.written.fetch_add(line.size(), std::memory_order_release);
      return false;
    }
    at = Position(bits);
  }
}

void Journal::remove() { unlink(path_); }

bool Journal::trim() {
  LockGuard guard(growing_);
  const Position at = position();
  const Position kept(
      position_.exchange(Position(at.slot(), at.segment(), Position::trimming).bits(), std::memory_order_acq_rel));
  Slot& slot = slots_[at.slot()];
  // Whoever reserved before the exchange writes below; whoever comes after it must first grow the file again.
  bool there = !slot.lost.load(std::memory_order_relaxed);
  const bool is_cut = there && slot.file.cut(slot.path, kept.offset());
  if (!is_cut) there &= errno != ESTALE;
  if (is_cut) {
    if (slot.file.is_mapped()) slot.reserved.store(kept.offset(), std::memory_order_release);
    slot.full.store(false, std::memory_order_release);
  }
  position_.store(kept.bits(), std::memory_order_release);
  return there;
}

}  // namespace gpumem
