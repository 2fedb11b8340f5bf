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

struct code_file {
  std::string path;
  std::string build_id;  // empty: not recorded
  auto operator<=>(const code_file&) const = default;
};

// The names of one return address, innermost first; empty where there are none.
using named_frames = std::vector<source_frame>;
using names_of_file = std::map<std::uint64_t, named_frames>;
using names_by_file = std::map<code_file, names_of_file>;

class symbolizer {
 public:
  explicit symbolizer(std::string debug_folder = "/usr/lib/debug");
  ~symbolizer();

  // Names known beforehand; they win over the files.
  void add_known(const names_by_file& known);

  // Looks one byte lower, for `return_address` is what comes after the call.
  const named_frames& resolve(const code_file& file, std::uint64_t return_address);

  // Everything resolved so far, the unnamed left out.
  names_by_file resolved() const;

  // Why names are missing, one clause for each file: `/opt/x.so: the file has been replaced since (build-id ...)`.
  std::vector<std::string> troubles() const;

 private:
  struct opened_file;
  opened_file& open(const code_file& file);

  std::string debug_folder_;
  std::map<code_file, std::unique_ptr<opened_file>> files_;
  names_by_file cache_;
};

}  // namespace gpumem
