// File, line and inlined functions of an address, from the debug information of one ELF file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbols/debug_files.hpp"
#include "symbols/elf_image.hpp"
#include "symbols/time_budget.hpp"

namespace gpumem {

struct SourceFrame {
  std::optional<std::string> function;  // demangled; absent for the outermost frame without a name of its own
  std::optional<std::string> file;
  std::optional<int> line;
};

class DebugLines {
 public:
  // Image and budget must outlive this. Reads only the heads of the compilation units; the rest when asked. What it
  // says after the budget was used up is incomplete.
  DebugLines(const ElfImage& image, DebugFiles& files, TimeBudget& budget);
  ~DebugLines();
  DebugLines(const DebugLines&) = delete;
  DebugLines& operator=(const DebugLines&) = delete;

  // Innermost (inlined) first, outermost last; empty where the debug information does not cover the address.
  std::vector<SourceFrame> frames_at(std::uint64_t address) const;

 private:
  struct implementation;
  std::unique_ptr<implementation> inside_;
};

}  // namespace gpumem
