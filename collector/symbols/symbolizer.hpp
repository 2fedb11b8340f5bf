// Names for the frames of journals: (module, build-id, ELF virtual address) to functions, files and lines.
//
// Asks what was written where the process ran first, then the cache, then the files themselves, if their build-id is
// the recorded one, then separate debug files. What has no name keeps "module+0x...", and the reason is told. Each
// address is resolved once. Never throws on what files contain.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/records.hpp"
#include "symbols/debug_lines.hpp"
#include "symbols/time_budget.hpp"

namespace gpumem {

struct CodeFile {
  std::string path;
  std::string build_id;  // empty: not recorded
  auto operator<=>(const CodeFile&) const = default;
};

// The names of one return address, innermost first; empty where there are none.
using NamedFrames = std::vector<SourceFrame>;
using NamesOfFile = std::map<std::uint64_t, NamedFrames>;

struct FileNames {
  NamesOfFile frames;   // of the addresses that were looked up
  std::string trouble;  // a clause: why names are missing; empty where the file could be read
};
using NamesByFile = std::map<CodeFile, FileNames>;
using AddressesByFile = std::map<CodeFile, std::set<std::uint64_t>>;

struct SymbolSources {
  std::string debug_folder = "/usr/lib/debug";
  std::string cache_folder;  // empty: none
  std::chrono::milliseconds limit{60'000};
};

class Symbolizer {
 public:
  explicit Symbolizer(SymbolSources sources = {});
  ~Symbolizer();

  // Names known beforehand; they win over the files, also where they say that an address has none.
  void add_known(const NamesByFile& known);

  // Looks one byte lower, for `return_address` is what comes after the call.
  const NamedFrames& resolve(const CodeFile& file, std::uint64_t return_address);

  // All of them, file by file; `before_each` is told which file comes next. Addresses for which there was no time are
  // left out.
  NamesByFile resolve_all(
      const AddressesByFile& wanted, const std::function<void(const CodeFile&)>& before_each = [](const CodeFile&) {});

  // Why names are missing, one clause for each file that was asked about: `/opt/x.so: the file is missing or ...`.
  std::vector<std::string> troubles() const;

  // The clause of one file, with its path in front or alone; empty where it gave names, or was not needed.
  std::string trouble_of(const CodeFile& file) const;
  std::string why_missing(const CodeFile& file) const;

  // Puts what debug information said into the cache. What symbol tables said is quick to find again, and may get
  // better.
  void keep() const;

 private:
  struct opened_file;
  struct known_file;
  const NamedFrames* find_known(known_file& known, const std::string& build_id, std::uint64_t address) const;
  opened_file& open(const CodeFile& file);
  NamedFrames look_up(const CodeFile& file, std::uint64_t address);

  SymbolSources sources_;
  TimeBudget budget_;
  DebugFiles debug_files_;
  std::map<CodeFile, known_file> known_;
  std::map<CodeFile, std::unique_ptr<opened_file>> files_;
};

}  // namespace gpumem
