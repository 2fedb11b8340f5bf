#include "symbols/debug_lines.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstdlib>

namespace gpumem {
namespace {

struct unit_range {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  Dwarf_Off unit = 0;  // offset of the unit's entry
};

const char* text_attribute(Dwarf_Die* entry, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Attribute* found = dwarf_attr_integrate(entry, name, &attribute);
  return found ? dwarf_formstring(found) : nullptr;
}

std::optional<std::string> function_name(Dwarf_Die* entry) {
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (const char* mangled = text_attribute(entry, name)) return demangle(mangled);
  }
  const char* plain = dwarf_diename(entry);
  return plain ? std::optional<std::string>(plain) : std::nullopt;
}

std::optional<std::uint64_t> number_attribute(Dwarf_Die* entry, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (!dwarf_attr(entry, name, &attribute) || dwarf_formudata(&attribute, &value) != 0) return std::nullopt;
  return value;
}

// Where the inlined function `entry` was called.
void set_call_place(source_frame& frame, Dwarf_Die* unit, Dwarf_Die* entry) {
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  const auto file = number_attribute(entry, DW_AT_call_file);
  if (file && dwarf_getsrcfiles(unit, &files, &count) == 0 && *file < count) {
    if (const char* name = dwarf_filesrc(files, *file, nullptr, nullptr)) frame.file = name;
  }
  if (const auto line = number_attribute(entry, DW_AT_call_line)) frame.line = static_cast<int>(*line);
}

void set_own_place(source_frame& frame, Dwarf_Die* unit, std::uint64_t address) {
  Dwarf_Line* line = dwarf_getsrc_die(unit, address);
  if (!line) return;
  if (const char* file = dwarf_linesrc(line, nullptr, nullptr)) frame.file = file;
  int number = 0;
  if (dwarf_lineno(line, &number) == 0 && number > 0) frame.line = number;
}

}  // namespace

struct debug_lines::implementation {
  Dwarf* dwarf = nullptr;
  std::vector<unit_range> ranges;  // sorted by low

  ~implementation() {
    if (dwarf) dwarf_end(dwarf);
  }

  // .debug_aranges would say the same, but not every compiler writes it.
  void read_unit_ranges() {
    Dwarf_Off offset = 0;
    Dwarf_Off next = 0;
    std::size_t header_size = 0;
    while (dwarf_nextcu(dwarf, offset, &next, &header_size, nullptr, nullptr, nullptr) == 0) {
      Dwarf_Die unit;
      if (dwarf_offdie(dwarf, offset + header_size, &unit)) {
        Dwarf_Addr base = 0;
        Dwarf_Addr low = 0;
        Dwarf_Addr high = 0;
        for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&unit, at, &base, &low, &high)) > 0;) {
          if (low < high) ranges.push_back({low, high, dwarf_dieoffset(&unit)});
        }
      }
      if (next <= offset) break;
      offset = next;
    }
    std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.low < b.low; });
  }

  bool find_unit(std::uint64_t address, Dwarf_Die* unit) const {
    const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                        [](std::uint64_t value, const unit_range& range) { return value < range.low; });
    if (after == ranges.begin() || address >= std::prev(after)->high) return false;
    return dwarf_offdie(dwarf, std::prev(after)->unit, unit) != nullptr;
  }
};

debug_lines::debug_lines(const elf_image& image) : inside_(std::make_unique<implementation>()) {
  if (!image.has_debug_lines()) return;
  inside_->dwarf = dwarf_begin_elf(image.handle(), DWARF_C_READ, nullptr);
  if (inside_->dwarf) inside_->read_unit_ranges();
}

debug_lines::~debug_lines() = default;

std::vector<source_frame> debug_lines::frames_at(std::uint64_t address) const {
  std::vector<source_frame> frames;
  Dwarf_Die unit;
  if (!inside_->dwarf || !inside_->find_unit(address, &unit)) return frames;
  source_frame frame;
  set_own_place(frame, &unit, address);
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes(&unit, address, &scopes);
  for (int i = 0; i < count; ++i) {
    const int tag = dwarf_tag(&scopes[i]);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    frame.function = function_name(&scopes[i]);
    frames.push_back(frame);
    if (tag == DW_TAG_subprogram) break;
    frame = {};
    set_call_place(frame, &unit, &scopes[i]);
  }
  std::free(scopes);
  const bool is_finished = !frames.empty() && count > 0;
  if (!is_finished && (frame.file || frame.line)) frames.push_back(frame);
  return frames;
}

std::string demangle(const char* name) {
  int status = 0;
  char* readable = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  const std::string result = status == 0 && readable ? readable : name;
  std::free(readable);
  return result;
}

}  // namespace gpumem
