// File, line and inlined functions of an address, from the debug information of one ELF file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbols/elf_image.hpp"

namespace gpumem {

struct SourceFrame {
  std::optional<std::string> function;  // demangled; absent for the outermost frame without a name of its own
  std::optional<std::string> file;
  std::optional<int> line;
};

class DebugLines {
 public:
  // The image must outlive this. Reads only the heads of the compilation units; the rest when asked.
  explicit DebugLines(const ElfImage& image);
  ~DebugLines();
  DebugLines(const DebugLines&) = delete;
  DebugLines& operator=(const DebugLines&) = delete;

  // Innermost (inlined) first, outermost last; empty where the debug information does not cover the address.
  std::vector<SourceFrame> frames_at(std::uint64_t address) const;

 private:
  struct implementation;
  std::unique_ptr<implementation> inside_;
};

// C++ names made readable; anything else as it is.
std::string demangle(const char* name);

}  // namespace gpumem
