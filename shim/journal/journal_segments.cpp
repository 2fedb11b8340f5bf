// How a journal goes on in its next segment, and what becomes of those before.
#include <algorithm>
#include <cerrno>

#include <unistd.h>

#include "journal/journal.hpp"

namespace gpumem {
namespace {

constexpr unsigned most_lost_segments = 16;
constexpr std::uint64_t first_retry_ns = 1'000'000;
constexpr unsigned most_doublings = 12;

}  // namespace

bool Journal::wants_new_segment(std::uint64_t now_ns) const {
  const Position at = position();
  const Slot& slot = slots_[at.slot()];
  return largest_ >= least_for_segments && at.offset() != Position::trimming &&
         (at.offset() >= slot.share.load(std::memory_order_relaxed) || slot.lost.load(std::memory_order_relaxed)) &&
         now_ns >= retry_ns_.load(std::memory_order_relaxed);
}

bool Journal::is_pressed() const {
  const Position at = position();
  const Slot& slot = slots_[at.slot()];
  const std::size_t room = slot.capacity.load(std::memory_order_relaxed) - left_alone_by(Importance::ordinary, slot);
  return at.offset() >= room - room / 8;
}

bool Journal::find_free_slot(std::size_t& free) {
  bool found = false;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].is_free()) continue;
    slots_[i].file.unmap();
    free = i;
    found = true;
  }
  return found;
}

bool Journal::is_being_written(std::uint32_t segment) const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [&](const Slot& slot) { return !slot.is_free() && slot.segment == segment; });
}

bool Journal::make_room_for(std::size_t needed, std::string_view cut_line) {
  // The newest one is being closed, and counts as it is.
  needed += position().offset();
  const std::uint32_t first_needed = std::min(first_needed_, position().segment());
  KeptSegments::Segment which;
  char path[sizeof Slot::path];
  for (;;) {
    const KeptSegments::Step step = kept_.next_step(needed, largest_, first_needed, which);
    if (step == KeptSegments::Step::none) return kept_.bytes() + needed <= largest_;
    write_path(path, which.number);
    // A thread that was stopped in the middle of a line may go on long after: what it writes to must not be cut.
    const bool stays = step == KeptSegments::Step::cut && !is_being_written(which.number) &&
                       cut_closed_file(path, which.beginning, cut_line);
    if (!stays) unlink(path);
  }
}

bool Journal::make_next_segment(std::size_t& number, std::uint32_t segment, std::size_t for_checkpoint,
                                std::string_view first_lines, std::string_view cut_line) {
  if (segment > Position::most_segments || lost_segments_ == most_lost_segments || !find_free_slot(number) ||
      !make_room_for(capacity_for(for_checkpoint), cut_line) || !open_slot(number, segment, for_checkpoint))
    return false;
  Slot& slot = slots_[number];
  const std::size_t have = slot.reserved.load(std::memory_order_relaxed),
                    size = SegmentFile::whole_pages(first_lines.size());
  if (size <= have) return true;
  if (size <= slot.capacity.load(std::memory_order_relaxed) && slot.file.reserve(slot.path, have, size)) {
    slot.reserved.store(size, std::memory_order_release);
    return true;
  }
  unlink(slot.path);
  slot.closed_at.store(0, std::memory_order_release);
  return false;
}

bool Journal::begin_segment(std::string_view first_lines, std::size_t for_checkpoint, std::string_view cut_line,
                            std::uint64_t now_ns) {
  LockGuard guard(growing_);
  const std::uint32_t number = position().segment() + 1;
  std::size_t free = 0;
  if (!make_next_segment(free, number, for_checkpoint, first_lines, cut_line)) {
    // Not again at once: what hinders it may last.
    retry_ns_.store(now_ns + (first_retry_ns << refusals_), std::memory_order_relaxed);
    refusals_ = std::min(refusals_ + 1, most_doublings);
    return false;
  }
  refusals_ = 0;
  const Position start(free, number, 0);
  write(start, first_lines, 0);
  close(Position(position_.exchange(Position(free, number, first_lines.size()).bits(), std::memory_order_acq_rel)));
  return true;
}

void Journal::close(Position at) {
  Slot& slot = slots_[at.slot()];
  const bool is_cut = !slot.lost.load(std::memory_order_relaxed) && slot.file.cut(slot.path, at.offset());
  if (is_cut || (!slot.lost.load(std::memory_order_relaxed) && errno != ESTALE)) {
    const std::size_t size = is_cut ? at.offset() : slot.reserved.load(std::memory_order_relaxed);
    kept_.add({at.segment(), size, slot.beginning});
  } else {
    ++lost_segments_;
  }
  slot.closed_at.store(at.offset(), std::memory_order_release);
}

void Journal::end_of_beginning() {
  LockGuard guard(growing_);
  const Position at = position();
  slots_[at.slot()].beginning = at.offset();
}

void Journal::free_earlier_segments() {
  LockGuard guard(growing_);
  const Position at = position();
  first_needed_ = at.segment();
  slots_[at.slot()].kept_for_checkpoint.store(0, std::memory_order_relaxed);
}

std::uint32_t Journal::dropped_segments() {
  LockGuard guard(growing_);
  return kept_.dropped() + lost_segments_;
}

}  // namespace gpumem
