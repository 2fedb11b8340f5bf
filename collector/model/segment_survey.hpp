// What one looks for in a segment before its lines are given out.
#pragma once

#include <cstdint>
#include <filesystem>

namespace gpumem {

struct SegmentSurvey {
  bool is_there = false;         // and has a whole line
  bool is_beginning = false;     // only that is left, or all else is about to go
  bool lists_blocks = false;     // its checkpoint is complete, and names every live block
  std::uint64_t first_ns = 0;    // of its first line
  std::uint64_t last_block = 0;  // of the checkpoint
};

// Throws error where the file is there and cannot be read. What its lines are worth is not judged.
SegmentSurvey survey_segment(const std::filesystem::path& path);

}  // namespace gpumem
