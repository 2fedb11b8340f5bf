// The journal of one process: lines that threads append to its newest segment.
//
// * A line that append() took is in the file whatever ends the process: the kernel owns the pages.
// * Threads do not wait for each other but while the file grows or a segment begins.
// * A journal that may grow beyond `least_for_segments` goes on in segments of an eighth of that, which together stay
//   below it; else it is one file. Somebody must ask wants_new_segment() and call begin_segment(), outside all locks.
// * When no more can be written, lines are refused; the last 16 KiB (a quarter of a small file) are kept for
// `essential`
//   ones.
// * A file that another process has cut or removed is left alone: the journal wants a new segment then.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/spin_lock.hpp"
#include "journal/kept_segments.hpp"
#include "journal/segment_file.hpp"

namespace gpumem {

class Journal {
 public:
  static constexpr std::size_t least_for_segments = std::size_t{1} << 20;
  static constexpr std::uint32_t any_segment = ~std::uint32_t{0};

  // Creates the first segment, whose name should end in "0.jsonl". False: errno says why.
  bool create(const char* path, std::size_t largest, SegmentFile::Writing writing = SegmentFile::Writing::mapped);

  // How much a line matters when room is short: each keeps room for those after it. last_words never waits for
  // anything: for a thread that may have been interrupted in the middle of the shim's own work.
  enum class Importance { ordinary, notable, essential, last_words };

  // The newest segment.
  std::uint32_t segment() const { return position().segment(); }

  // False: the line is not in the file, because there is no room or `expected` is not the newest segment any more.
  // `now_ns`: any clock; what protects the program from files that others cut is done once in 10 us of it.
  bool append(std::string_view line, Importance importance = Importance::ordinary, std::uint32_t expected = any_segment,
              std::uint64_t now_ns = 0);

  // Whether the newest segment has had its share, or is lost. Not for a while after begin_segment() has failed.
  bool wants_new_segment(std::uint64_t now_ns) const;

  // Whether most of what the newest segment has room for now is used: what makes room should not wait.
  bool is_pressed() const;

  // Begins the next segment with these lines and closes the one before. `for_checkpoint`: bytes that the segment has
  // beyond its share of events, and keeps for `notable` lines until free_earlier_segments(). False: all stays as it
  // was.
  bool begin_segment(std::string_view first_lines, std::size_t for_checkpoint, std::string_view cut_line,
                     std::uint64_t now_ns);

  // The lines up to here are what stays of the newest segment when its events have to go.
  void end_of_beginning();
  // The segments before the newest one are not needed any more.
  void free_earlier_segments();

  // Of segments 1 and later, how many are not there as a whole.
  std::uint32_t dropped_segments();

  // How much a checkpoint may be to leave room for events.
  std::size_t largest_checkpoint() const { return largest_ / 4; }

  // Cuts the newest file to what is used. Later lines are still taken. False: somebody else has removed or cut it.
  bool trim();

  // Deletes the first file.
  void remove();

  // Of the first segment.
  const char* path() const { return path_; }

 private:
  // The slot and the number of the newest segment, and where its next line goes, in one word: so a line is always in
  // the segment that it was meant for.
  class Position {
   public:
    Position() = default;
    explicit Position(std::uint64_t bits) : bits_(bits) {}
    Position(std::size_t slot, std::uint32_t segment, std::size_t offset)
        : bits_(std::uint64_t{slot} << 60 | std::uint64_t{segment} << offset_bits | offset) {}
    std::size_t slot() const { return bits_ >> 60; }
    std::uint32_t segment() const { return static_cast<std::uint32_t>(bits_ >> offset_bits & most_segments); }
    std::size_t offset() const { return bits_ & trimming; }
    std::uint64_t bits() const { return bits_; }

    static constexpr unsigned offset_bits = 40;
    static constexpr std::uint64_t trimming = (std::uint64_t{1} << offset_bits) - 1;  // nobody can reserve
    static constexpr std::uint32_t most_segments = (1u << 20) - 1;

   private:
    std::uint64_t bits_ = 0;
  };

  static constexpr std::size_t open = ~std::size_t{0};

  // A slot is free when all that was reserved in its segment has been written.
  struct Slot {
    SegmentFile file;
    char path[4096];
    std::uint32_t segment = 0;
    std::atomic<std::size_t> capacity{0};
    std::size_t beginning = 0;          // of the segment, for KeptSegments
    std::atomic<std::size_t> share{0};  // from here on a new segment is wanted
    std::atomic<std::size_t> kept_for_checkpoint{0};
    std::atomic<std::size_t> reserved{0};  // bytes of the file that may be touched
    std::atomic<std::size_t> written{0};
    std::atomic<std::size_t> closed_at{0};  // bytes that it has in all; `open`: still growing
    std::atomic<bool> full{false}, lost{false};

    bool is_free() const {
      const std::size_t size = closed_at.load(std::memory_order_acquire);
      return size != open && written.load(std::memory_order_acquire) == size;
    }
  };

  Position position() const { return Position(position_.load(std::memory_order_acquire)); }
  void write_path(char (&path)[4096], std::uint32_t segment) const;  // as large as that of a slot
  bool open_slot(std::size_t slot, std::uint32_t segment, std::size_t for_checkpoint);
  std::size_t capacity_for(std::size_t for_checkpoint) const;
  std::size_t left_alone_by(Importance importance, const Slot& slot) const;
  bool make_next_segment(std::size_t& slot, std::uint32_t segment, std::size_t for_checkpoint,
                         std::string_view first_lines, std::string_view cut_line);
  bool find_free_slot(std::size_t& free);
  bool is_being_written(std::uint32_t segment) const;
  bool make_room_for(std::size_t needed, std::string_view cut_line);
  bool grow(Position at, std::size_t needed);
  bool write(Position at, std::string_view line, std::uint64_t now_ns);
  void close(Position at);

  char path_[4096] = "";
  std::size_t stem_size_ = 0;  // of path_, without the number and the suffix
  std::size_t largest_ = 0, kept_for_essential_ = 0;
  SegmentFile::Writing writing_ = SegmentFile::Writing::mapped;
  std::atomic<std::uint64_t> position_{0};
  std::atomic<std::uint64_t> looked_ns_{0};
  std::array<Slot, 16> slots_;
  SpinLock growing_;  // and what follows
  KeptSegments kept_;
  std::uint32_t first_needed_ = 0;
  unsigned lost_segments_ = 0;
  unsigned refusals_ = 0;  // of new segments, in a row
  std::atomic<std::uint64_t> retry_ns_{0};
};

}  // namespace gpumem
