// Lines that must be in one segment with others, and what each segment has once.
#pragma once

#include <atomic>
#include <cstdint>

#include "session.hpp"

namespace gpumem {

// Calls write(segment) with the newest segment, until it has written into one that was still the newest then, or could
// not write for another reason.
template <class Write>
bool write_in_newest_segment(Session& session, Write&& write) {
  for (;;) {
    const std::uint32_t segment = session.journal.segment();
    if (write(segment)) return true;
    if (session.journal.segment() == segment) return false;
  }
}

// `written_in` is the latest segment that something is in, plus 1. Two threads may both find it missing: twice is
// harmless, a reference to nothing is not.
inline bool is_in_segment(const std::atomic<std::uint32_t>& written_in, std::uint32_t segment) {
  return written_in.load(std::memory_order_acquire) == segment + 1;
}

// Writes the line that is that something.
inline bool write_once_in_segment(Session& session, const Line& line, std::uint32_t segment,
                                  std::atomic<std::uint32_t>& written_in) {
  if (!session.write(line, Journal::Importance::ordinary, segment)) return false;
  written_in.store(segment + 1, std::memory_order_release);
  return true;
}

}  // namespace gpumem
