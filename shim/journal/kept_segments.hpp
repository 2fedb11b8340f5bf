// Which files of a journal stay: the first, the newest, and of some in between their beginning, evenly spaced: those
// whose number is a multiple of 1, later of 2, of 4 …
//
// Only reckons; whoever asks does what it says. Bounded in memory. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gpumem {

class KeptSegments {
 public:
  // Beginnings of segments that are kept.
  static constexpr std::size_t most_beginnings = 64;

  struct Segment {
    std::uint32_t number = 0;
    std::size_t bytes = 0;
    std::size_t beginning =
        0;  // bytes up to the end of its checkpoint's sites; 0: not known, so nothing of it can stay
    bool whole = true;
  };

  // A segment has been closed. False: there is no room to remember it, so it can only be left alone.
  bool add(const Segment& closed);

  enum class Step { none, cut, remove };

  // What to do next so that `needed` more bytes fit into `largest`; it counts as done. None: they fit, or nothing can
  // go. Segment 0 and those from `first_needed` on stay as they are.
  Step next_step(std::size_t needed, std::size_t largest, std::uint32_t first_needed, Segment& which);

  std::size_t bytes() const;

  // Closed segments that are not there as a whole any more.
  std::uint32_t dropped() const { return dropped_; }

 private:
  Step take_out(std::size_t index, Segment& which);
  std::size_t beginnings() const;
  bool is_spaced(const Segment& segment) const { return segment.number % spacing_ == 0; }

  std::array<Segment, 2 * most_beginnings> segments_;
  std::size_t count_ = 0;
  std::uint64_t spacing_ = 1;
  std::uint32_t dropped_ = 0;
};

}  // namespace gpumem
