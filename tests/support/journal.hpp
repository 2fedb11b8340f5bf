// Reads journals as docs/FORMAT.md defines them: a second reader, which shares nothing with the collector's.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace gpumem::test {

using Line = nlohmann::json;
using Lines = std::vector<Line>;

struct Journal {
  std::filesystem::path file;  // of its first segment that is there
  Lines lines;                 // of all its segments
  int torn = 0;

  const Line& process() const { return lines.at(0); }
  int pid() const { return process().at("pid"); }

  // Lines of one type, of one operation, of one allocation size.
  Lines of_type(const std::string& type) const;
  Lines events(const std::string& operation) const;
  Lines allocations(const std::string& kind = {}) const;
  Lines allocations_of(std::uint64_t bytes) const;
  Lines failures() const { return of_type("failure"); }
  bool has_end() const { return !of_type("end").empty(); }

  // Blocks that were allocated and neither freed nor ended by their context or by a reuse of their address. Where
  // segments are missing those of the next checkpoint count instead, with the keys that a checkpoint has.
  Lines live_at_end() const;
  // Highest `u` of a kind.
  std::uint64_t peak(const std::string& kind) const;
  // "path" of the module of each frame of a stack.
  std::vector<std::string> modules_of_stack(std::uint64_t stack) const;
};

// One segment.
Journal read_journal(const std::filesystem::path& file);

// All journals of a folder, by file name, each with all its segments; empty if there is no such folder.
std::vector<Journal> read_journals(const std::filesystem::path& folder);

// The only journal of a folder; throws, naming what is there, if there is not exactly one.
Journal read_only_journal(const std::filesystem::path& folder);

std::string read_text(const std::filesystem::path& file);
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace gpumem::test
