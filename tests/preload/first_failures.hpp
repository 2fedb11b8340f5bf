// What tests share that run the program first_failures.
#pragma once

#include "stage.hpp"

namespace gpumem::test {

inline Line failing(const std::string& call, int code) { return {{"rules", {{{"call", call}, {"code", code}}}}}; }

// The program does these things, and is what it is without the shim.
inline Journal journal_after(const Stage& stage, std::vector<std::string> ways) {
  ways.insert(ways.begin(), program("first_failures"));
  const auto bare = stage.run_bare(ways), traced = stage.run_traced(ways);
  INFO(traced);
  CHECK(traced == bare);
  return stage.journal();
}

inline Line init_of_driver(const Journal& journal) {
  for (const auto& line : journal.events("init"))
    if (line.at("api") == "cuInit" || line.value("in", "") == "cuInit") return line;
  FAIL("no event of cuInit");
  return {};
}

}  // namespace gpumem::test
