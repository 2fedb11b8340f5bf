// Names for the frames of journals: (module, build-id, ELF virtual address) to functions, files and lines.
//
// Asks the sidecar that was written where the process ran first, then the files themselves, if their build-id is the
// recorded one, then separate debug files by build-id. What has no name keeps "module+0x...", and the reason is
// counted. Each address is resolved once. Never throws on what files contain.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/records.hpp"
#include "symbols/debug_lines.hpp"

namespace gpumem {

struct CodeFile {
  std::string path;
  std::string build_id;  // empty: not recorded
  auto operator<=>(const CodeFile&) const = default;
};

// The names of one return address, innermost first; empty where there are none.
using NamedFrames = std::vector<SourceFrame>;
using NamesOfFile = std::map<std::uint64_t, NamedFrames>;
using NamesByFile = std::map<CodeFile, NamesOfFile>;

class Symbolizer {
 public:
  explicit Symbolizer(std::string debug_folder = "/usr/lib/debug");
  ~Symbolizer();

  // Names known beforehand; they win over the files.
  void add_known(const NamesByFile& known);

  // Looks one byte lower, for `return_address` is what comes after the call.
  const NamedFrames& resolve(const CodeFile& file, std::uint64_t return_address);

  // Everything resolved so far, the unnamed left out.
  NamesByFile resolved() const;

  // Why names are missing, one clause for each file: `/opt/x.so: the file has been replaced since (build-id ...)`.
  std::vector<std::string> troubles() const;

  // The clause of one file; empty where it gave names, or was not needed.
  std::string trouble_of(const CodeFile& file) const;

 private:
  struct opened_file;
  opened_file& open(const CodeFile& file);

  std::string debug_folder_;
  std::map<CodeFile, std::unique_ptr<opened_file>> files_;
  NamesByFile cache_;
};

}  // namespace gpumem
