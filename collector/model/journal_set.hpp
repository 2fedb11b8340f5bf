// What a PATH on the command line means: the journals of one process, or of all processes in a folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gpumem {

// The files of one process.
struct JournalFiles {
  std::string stem;                             // path without segment number and suffix
  std::vector<std::filesystem::path> segments;  // in order, at least one
  bool replaced_by_exec = false;                // the same process has a later journal: it called exec

  std::filesystem::path status_file() const;
  std::filesystem::path symbols_file() const;
  std::filesystem::path marks_file() const;
};

// Sorted by file name. Throws error where PATH is missing or holds no journal.
std::vector<JournalFiles> find_journals(const std::filesystem::path& path);

// By the name of its file; 0 for a file of any other name.
std::uint64_t segment_number(const std::filesystem::path& file);

}  // namespace gpumem
