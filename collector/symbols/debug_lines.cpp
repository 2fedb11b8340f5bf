#include "symbols/debug_lines.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>

#include <algorithm>
#include <map>

#include "symbols/demangle.hpp"

namespace gpumem {
namespace {

// Deeper nesting than this is no compiler's work.
constexpr int deepest = 64;

struct CodeRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  Dwarf_Die entry{};  // the debugging entry that covers it
};

using CodeRanges = std::vector<CodeRange>;  // sorted by low

void add_ranges(CodeRanges& to, Dwarf_Die* entry) {
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  for (std::ptrdiff_t at = 0; (at = dwarf_ranges(entry, at, &base, &low, &high)) > 0;) {
    if (low < high) to.push_back({low, high, *entry});
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

// Goes to the next entry beside this one. Damaged information may lead back, and round in circles.
bool go_on(Dwarf_Die* entry, TimeBudget& budget) {
  Dwarf_Die next;
  if (budget.is_used_up() || dwarf_siblingof(entry, &next) != 0) return false;
  if (dwarf_dieoffset(&next) <= dwarf_dieoffset(entry)) return false;
  *entry = next;
  return true;
}

// Functions lie in the unit itself, in namespaces and in classes; what lies inside functions is looked at later.
void add_functions(CodeRanges& to, Dwarf_Die* parent, TimeBudget& budget, int depth = 0) {
  Dwarf_Die child;
  if (depth > deepest || dwarf_child(parent, &child) != 0) return;
  do {
    switch (dwarf_tag(&child)) {
      case DW_TAG_subprogram: add_ranges(to, &child); break;
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_class_type:
      case DW_TAG_structure_type: add_functions(to, &child, budget, depth + 1); break;
      default: break;
    }
  } while (go_on(&child, budget));
}

// From a function inwards: the inlined functions that hold the address, outermost first.
void add_inlined(std::vector<Dwarf_Die>& to, Dwarf_Die parent, std::uint64_t address, TimeBudget& budget) {
  for (int depth = 0; depth < deepest; ++depth) {
    Dwarf_Die child;
    if (dwarf_child(&parent, &child) != 0) return;
    bool is_inside = false;
    do {
      const int tag = dwarf_tag(&child);
      const bool can_hold = tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block;
      is_inside = can_hold && dwarf_haspc(&child, address) > 0;
      if (is_inside && tag == DW_TAG_inlined_subroutine) to.push_back(child);
    } while (!is_inside && go_on(&child, budget));
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
void set_call_place(SourceFrame& frame, Dwarf_Die* entry) {
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  const auto file = number_attribute(entry, DW_AT_call_file);
  if (file && dwarf_diecu(entry, &unit, nullptr, nullptr) && dwarf_getsrcfiles(&unit, &files, &count) == 0 &&
      *file < count) {
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
  TimeBudget& budget;
  Dwarf* dwarf = nullptr;
  std::unique_ptr<ElfImage> alternate_image;
  Dwarf* alternate = nullptr;
  CodeRanges units;
  std::map<Dwarf_Off, CodeRanges> functions_of_unit;

  explicit implementation(TimeBudget& spent) : budget(spent) {}
  ~implementation() {
    if (dwarf) dwarf_end(dwarf);
    if (alternate) dwarf_end(alternate);
  }

  // What several files have in common may lie in one more file (dwz).
  void find_alternate(DebugFiles& files) {
    const char* name = nullptr;
    const void* id = nullptr;
    const ssize_t size = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
    if (size <= 0 || dwarf_getalt(dwarf)) return;
    const std::string build_id = hexadecimal(static_cast<const unsigned char*>(id), static_cast<std::size_t>(size));
    alternate_image = files.by_build_id(build_id);
    if (!alternate_image) alternate_image = files.from_server(build_id);
    if (!alternate_image) return;
    alternate = dwarf_begin_elf(alternate_image->handle(), DWARF_C_READ, nullptr);
    dwarf_setalt(dwarf, alternate);
  }

  // .debug_aranges would say the same, but not every compiler writes it.
  void read_unit_ranges() {
    Dwarf_CU* unit = nullptr;
    Dwarf_Die entry;
    while (!budget.is_used_up() && dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &entry, nullptr) == 0) {
      add_ranges(units, &entry);
    }
    sort(units);
  }

  const CodeRanges& functions_of(Dwarf_Die* unit) {
    const auto [found, is_new] = functions_of_unit.try_emplace(dwarf_dieoffset(unit));
    if (is_new) {
      // The functions of a split unit are in a file of their own (.dwo), which libdw finds.
      Dwarf_Die split{};
      const bool is_split =
          dwarf_cu_info(unit->cu, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr) == 0 &&
          split.addr != nullptr;
      add_functions(found->second, is_split ? &split : unit, budget);
      sort(found->second);
    }
    return found->second;
  }
};

DebugLines::DebugLines(const ElfImage& image, DebugFiles& files, TimeBudget& budget)
    : inside_(std::make_unique<implementation>(budget)) {
  if (!image.has_debug_lines()) return;
  inside_->dwarf = dwarf_begin_elf(image.handle(), DWARF_C_READ, nullptr);
  if (!inside_->dwarf) return;
  inside_->find_alternate(files);
  inside_->read_unit_ranges();
}

DebugLines::~DebugLines() = default;

std::vector<SourceFrame> DebugLines::frames_at(std::uint64_t address) const {
  const CodeRange* in_unit = find(inside_->units, address);
  if (!in_unit) return {};
  Dwarf_Die unit = in_unit->entry;
  SourceFrame frame;
  set_own_place(frame, &unit, address);

  std::vector<Dwarf_Die> scopes;  // outermost first
  if (const CodeRange* in_function = find(inside_->functions_of(&unit), address)) {
    scopes.push_back(in_function->entry);
    add_inlined(scopes, in_function->entry, address, inside_->budget);
  }
  std::vector<SourceFrame> frames;
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    frame.function = function_name(&*scope);
    frames.push_back(frame);
    frame = {};
    set_call_place(frame, &*scope);
  }
  if (scopes.empty() && (frame.file || frame.line)) frames.push_back(frame);
  return frames;
}

}  // namespace gpumem
