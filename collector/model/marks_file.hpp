// The sidecar of marks that a person sets while a process runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gpumem {

struct Mark {
  std::uint64_t ns = 0;  // on the clock of the journal
  std::string text;
};

struct MarksFile {
  std::vector<Mark> marks;  // by time
  std::uint64_t bad_lines = 0;
};

// Without marks where there is no such file. Reads at most 16 MiB.
MarksFile read_marks(const std::filesystem::path& path);

// Appends it in one step, mode 0600, never through a link. Throws error.
void append_mark(const std::filesystem::path& path, const Mark& mark);

}  // namespace gpumem
