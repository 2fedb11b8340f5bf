#include "symbols/symbolizer.hpp"

#include "symbols/elf_image.hpp"

namespace gpumem {

struct Symbolizer::opened_file {
  std::unique_ptr<ElfImage> image;
  std::unique_ptr<ElfImage> separate_debug;
  std::unique_ptr<DebugLines> lines;
  std::string trouble;  // empty: names come from the recorded file

  const ElfImage* names() const {
    const bool debug_knows_more = separate_debug && (!image || !image->has_symbol_table());
    return debug_knows_more ? separate_debug.get() : image.get();
  }
};

Symbolizer::Symbolizer(std::string debug_folder) : debug_folder_(std::move(debug_folder)) {}
Symbolizer::~Symbolizer() = default;

void Symbolizer::add_known(const NamesByFile& known) {
  for (const auto& [file, names] : known) cache_[file].insert(names.begin(), names.end());
}

Symbolizer::opened_file& Symbolizer::open(const CodeFile& file) {
  auto& slot = files_[file];
  if (slot) return *slot;
  slot = std::make_unique<opened_file>();
  slot->image = ElfImage::open(file.path);
  if (!slot->image) {
    slot->trouble = "the file is missing or cannot be read";
  } else if (!file.build_id.empty() && slot->image->build_id() != file.build_id) {
    slot->trouble = "the file has been replaced since the process ran (another build-id)";
    slot->image.reset();
  }
  const bool needs_debug_file = !slot->image || !slot->image->has_debug_lines();
  const bool is_hexadecimal = file.build_id.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (needs_debug_file && is_hexadecimal && file.build_id.size() > 2) {
    slot->separate_debug = ElfImage::open(debug_folder_ + "/.build-id/" + file.build_id.substr(0, 2) + "/" +
                                          file.build_id.substr(2) + ".debug");
    if (slot->separate_debug && slot->separate_debug->build_id() != file.build_id) slot->separate_debug.reset();
  }
  if (slot->separate_debug) slot->trouble.clear();
  const ElfImage* described = slot->separate_debug ? slot->separate_debug.get() : slot->image.get();
  if (described) slot->lines = std::make_unique<DebugLines>(*described);
  return *slot;
}

const NamedFrames& Symbolizer::resolve(const CodeFile& file, std::uint64_t return_address) {
  NamesOfFile& known = cache_[file];
  const auto [found, is_new] = known.try_emplace(return_address);
  if (!is_new || return_address == 0) return found->second;
  NamedFrames& frames = found->second;
  opened_file& opened = open(file);
  const std::uint64_t address = return_address - 1;
  if (opened.lines) frames = opened.lines->frames_at(address);
  const ElfImage* names = opened.names();
  const auto function = names ? names->function_at(address) : std::nullopt;
  if (!function) return frames;
  if (frames.empty()) frames.emplace_back();
  // The symbol is the better name for the outermost frame: debug information of C has no parameters, of C++ no scope.
  if (!frames.back().function || frames.size() == 1) frames.back().function = demangle(std::string(*function).c_str());
  return frames;
}

NamesByFile Symbolizer::resolved() const {
  NamesByFile result;
  for (const auto& [file, names] : cache_) {
    for (const auto& [address, frames] : names) {
      if (!frames.empty()) result[file].emplace(address, frames);
    }
  }
  return result;
}

std::vector<std::string> Symbolizer::troubles() const {
  std::vector<std::string> clauses;
  for (const auto& [file, opened] : files_) {
    if (!opened->trouble.empty()) clauses.push_back(file.path + ": " + opened->trouble);
  }
  return clauses;
}

std::string Symbolizer::trouble_of(const CodeFile& file) const {
  const auto found = files_.find(file);
  return found == files_.end() || found->second->trouble.empty() ? "" : file.path + ": " + found->second->trouble;
}

}  // namespace gpumem
