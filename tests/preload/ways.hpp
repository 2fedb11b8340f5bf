// How tests look at the journals of the programs that get memory in each way there is.
#pragma once

#include <map>

#include "stage.hpp"

namespace gpumem::test {

constexpr std::uint64_t page = 2u << 20;

// Runs the program without the shim and with it, and wants both alike.
inline void run_unnoticed(const Stage& stage, const std::vector<std::string>& command) {
  const auto bare = stage.run_bare(command), traced = stage.run_traced(command);
  INFO(traced);
  CHECK(bare.status == 0);
  CHECK(traced == bare);
}

// The same for one process, and its journal.
inline Journal journal_of_ways(const Stage& stage, const std::vector<std::string>& command) {
  run_unnoticed(stage, command);
  return stage.journal();
}

inline Line only(const Lines& lines) {
  REQUIRE(lines.size() == 1);
  return lines[0];
}

inline Lines of_block(const Journal& journal, const std::string& operation, const Line& block) {
  Lines found;
  for (const Line& line : journal.events(operation))
    if (line.value("i", 0) == block.at("i")) found.push_back(line);
  return found;
}

inline bool is_freed(const Journal& journal, const Line& block) { return of_block(journal, "free", block).size() == 1; }

// What each kind has live at the end.
inline std::map<std::string, std::uint64_t> live_bytes(const Journal& journal) {
  std::map<std::string, std::uint64_t> bytes;
  for (const Line& line : journal.live_at_end()) bytes[line.at("k")] += line.value("n", 1);
  return bytes;
}

// The last `u` of each kind is what its live blocks sum up to.
inline void check_totals(const Journal& journal) {
  std::map<std::string, std::uint64_t> last;
  for (const Line& line : journal.of_type("event")) {
    if (line.contains("u")) last[line.at("k")] = line.at("u");
    if (line.at("op") == "context_end") return;
  }
  const auto live = live_bytes(journal);
  for (const auto& [kind, bytes] : last) {
    INFO(kind);
    CHECK(bytes == (live.contains(kind) ? live.at(kind) : 0));
  }
}

inline Lines samples(const Journal& journal, const std::string& why) {
  Lines found;
  for (const Line& line : journal.of_type("sample"))
    if (line.at("why") == why) found.push_back(line);
  return found;
}

}  // namespace gpumem::test
