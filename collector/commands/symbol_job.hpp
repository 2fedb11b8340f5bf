// Names for every address of journals, looked up here where the files are, into their sidecars.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "model/journal_set.hpp"
#include "symbols/symbolizer.hpp"

namespace gpumem {

// What came of one file.
struct SymbolCount {
  std::string path;
  std::uint64_t addresses = 0;
  std::uint64_t named = 0;
  std::uint64_t with_line = 0;
  std::string trouble;
};

constexpr double default_symbol_seconds = 60;

// "--symbol-limit SECONDS"
void add_symbol_limit(CLI::App& command, double& seconds);

// The folders of this machine, the user's cache, and a limit.
SymbolSources sources_here(double limit_seconds);

// What a sidecar says already is looked up anew, and kept where nothing better is found. The work is done in a process
// of its own, so that no file, however damaged or slow, harms or holds up this one. Throws error.
std::vector<SymbolCount> symbolize(const std::vector<JournalFiles>& journals, double limit_seconds);

}  // namespace gpumem
