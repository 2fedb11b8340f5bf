#include "symbols/debug_lines.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

namespace gpumem {
namespace {

// Deeper nesting than this is no compiler's work.
constexpr int deepest = 64;

struct CodeRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  Dwarf_Off entry = 0;  // offset of the debugging entry that covers it
};

using CodeRanges = std::vector<CodeRange>;  // sorted by low

void add_ranges(CodeRanges& to, Dwarf_Die* entry) {
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  for (std::ptrdiff_t at = 0; (at = dwarf_ranges(entry, at, &base, &low, &high)) > 0;) {
    if (low < high) to.push_back({low, high, dwarf_dieoffset(entry)});
  }
}

void sort(CodeRanges& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.low < b.low; });
}

const CodeRange* find(const CodeRanges& ranges, std::uint64_t address) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](std::uint64_t value, const CodeRange& range) { return value < range.low; });
  if (after == ranges.begin() || address >= std::prev(after)->high) return nullptr;
  return &*std::prev(after);
}

// Functions lie in the unit itself, in namespaces and in classes; what lies inside functions is looked at later.
void add_functions(CodeRanges& to, Dwarf_Die* parent, int depth) {
  Dwarf_Die child;
  if (depth > deepest || dwarf_child(parent, &child) != 0) return;
  do {
    switch (dwarf_tag(&child)) {
      case DW_TAG_subprogram: add_ranges(to, &child); break;
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_class_type:
      case DW_TAG_structure_type: add_functions(to, &child, depth + 1); break;
      default: break;
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

// From a function inwards: the inlined functions that hold the address, outermost first.
void add_inlined(std::vector<Dwarf_Die>& to, Dwarf_Die parent, std::uint64_t address) {
  for (int depth = 0; depth < deepest; ++depth) {
    Dwarf_Die child;
    if (dwarf_child(&parent, &child) != 0) return;
    bool is_inside = false;
    do {
      const int tag = dwarf_tag(&child);
      const bool can_hold = tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block;
      is_inside = can_hold && dwarf_haspc(&child, address) > 0;
      if (is_inside && tag == DW_TAG_inlined_subroutine) to.push_back(child);
    } while (!is_inside && dwarf_siblingof(&child, &child) == 0);
    if (!is_inside) return;
    parent = child;
  }
}

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
void set_call_place(SourceFrame& frame, Dwarf_Die* unit, Dwarf_Die* entry) {
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  const auto file = number_attribute(entry, DW_AT_call_file);
  if (file && dwarf_getsrcfiles(unit, &files, &count) == 0 && *file < count) {
    if (const char* name = dwarf_filesrc(files, *file, nullptr, nullptr)) frame.file = name;
  }
  if (const auto line = number_attribute(entry, DW_AT_call_line)) frame.line = static_cast<int>(*line);
}

void set_own_place(SourceFrame& frame, Dwarf_Die* unit, std::uint64_t address) {
  Dwarf_Line* line = dwarf_getsrc_die(unit, address);
  if (!line) return;
  if (const char* file = dwarf_linesrc(line, nullptr, nullptr)) frame.file = file;
  int number = 0;
  if (dwarf_lineno(line, &number) == 0 && number > 0) frame.line = number;
}

}  // namespace

struct DebugLines::implementation {
  Dwarf* dwarf = nullptr;
  CodeRanges units;
  std::map<Dwarf_Off, CodeRanges> functions_of_unit;

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
      if (dwarf_offdie(dwarf, offset + header_size, &unit)) add_ranges(units, &unit);
      if (next <= offset) break;
      offset = next;
    }
    sort(units);
  }

  const CodeRanges& functions_of(Dwarf_Die* unit) {
    const auto [found, is_new] = functions_of_unit.try_emplace(dwarf_dieoffset(unit));
    if (is_new) {
      add_functions(found->second, unit, 0);
      sort(found->second);
    }
    return found->second;
  }
};

DebugLines::DebugLines(const ElfImage& image) : inside_(std::make_unique<implementation>()) {
  if (!image.has_debug_lines()) return;
  inside_->dwarf = dwarf_begin_elf(image.handle(), DWARF_C_READ, nullptr);
  if (inside_->dwarf) inside_->read_unit_ranges();
}

DebugLines::~DebugLines() = default;

std::vector<SourceFrame> DebugLines::frames_at(std::uint64_t address) const {
  Dwarf_Die unit;
  const CodeRange* in_unit = find(inside_->units, address);
  if (!in_unit || !dwarf_offdie(inside_->dwarf, in_unit->entry, &unit)) return {};
  SourceFrame frame;
  set_own_place(frame, &unit, address);

  std::vector<Dwarf_Die> scopes;  // outermost first
  Dwarf_Die function;
  const CodeRange* in_function = find(inside_->functions_of(&unit), address);
  if (in_function && dwarf_offdie(inside_->dwarf, in_function->entry, &function)) {
    scopes.push_back(function);
    add_inlined(scopes, function, address);
  }
  std::vector<SourceFrame> frames;
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    frame.function = function_name(&*scope);
    frames.push_back(frame);
    frame = {};
    set_call_place(frame, &unit, &*scope);
  }
  if (scopes.empty() && (frame.file || frame.line)) frames.push_back(frame);
  return frames;
}

std::string demangle(const char* name) {
  // Short names of C functions are valid mangled names of types.
  if (std::strncmp(name, "_Z", 2) != 0) return name;
  int status = 0;
  char* readable = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  const std::string result = status == 0 && readable ? readable : name;
  std::free(readable);
  return result;
}

}  // namespace gpumem
