#include "symbols/symbolizer.hpp"

#include "symbols/demangle.hpp"
#include "symbols/elf_image.hpp"
#include "symbols/symbol_cache.hpp"

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

struct Symbolizer::known_file {
  FileNames names;
  NamesOfFile fresh;  // of these, what debug information said and the cache does not know
  std::uint64_t without_time = 0;
  bool cache_is_read = false;
  bool is_asked = false;
};

Symbolizer::Symbolizer(SymbolSources sources)
    : sources_(std::move(sources)), budget_(sources_.limit), debug_files_(sources_.debug_folder, budget_) {}
Symbolizer::~Symbolizer() = default;

void Symbolizer::add_known(const NamesByFile& known) {
  for (const auto& [file, names] : known) {
    FileNames& to = known_[file].names;
    to.frames.insert(names.frames.begin(), names.frames.end());
    if (to.trouble.empty()) to.trouble = names.trouble;
  }
}

const NamedFrames* Symbolizer::find_known(known_file& known, const std::string& build_id, std::uint64_t address) const {
  NamesOfFile& frames = known.names.frames;
  auto found = frames.find(address);
  if (found == frames.end() && !known.cache_is_read) {
    known.cache_is_read = true;
    frames.merge(read_symbol_cache(sources_.cache_folder, build_id));
    found = frames.find(address);
  }
  return found == frames.end() ? nullptr : &found->second;
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
  if (!slot->image || !slot->image->has_debug_lines()) {
    slot->separate_debug = debug_files_.by_build_id(file.build_id);
    if (!slot->separate_debug && slot->image) slot->separate_debug = debug_files_.by_link(file.path, *slot->image);
    if (!slot->separate_debug) slot->separate_debug = debug_files_.from_server(file.build_id);
  }
  if (slot->separate_debug) slot->trouble.clear();
  const ElfImage* described = slot->separate_debug ? slot->separate_debug.get() : slot->image.get();
  if (described) slot->lines = std::make_unique<DebugLines>(*described, debug_files_, budget_);
  return *slot;
}

NamedFrames Symbolizer::look_up(const CodeFile& file, std::uint64_t address) {
  const opened_file& opened = open(file);
  NamedFrames frames;
  if (opened.lines) frames = opened.lines->frames_at(address);
  const ElfImage* names = opened.names();
  const auto function = names ? names->function_at(address) : std::nullopt;
  if (!function) return frames;
  if (frames.empty()) frames.emplace_back();
  // The symbol is the better name for the outermost frame: debug information of C has no parameters, of C++ no scope.
  if (!frames.back().function || frames.size() == 1) frames.back().function = demangle(std::string(*function).c_str());
  return frames;
}

const NamedFrames& Symbolizer::resolve(const CodeFile& file, std::uint64_t return_address) {
  static const NamedFrames none;
  known_file& of_file = known_[file];
  of_file.is_asked = true;
  if (const auto* known = find_known(of_file, file.build_id, return_address)) return *known;
  if (return_address == 0) return none;
  const TimeBudget::Spending spending(budget_);
  NamedFrames frames;
  if (!budget_.is_used_up()) frames = look_up(file, return_address - 1);
  if (budget_.is_used_up()) {
    ++of_file.without_time;
    return none;
  }
  of_file.names.trouble = open(file).trouble;
  if (!frames.empty() && frames.front().file) of_file.fresh.emplace(return_address, frames);
  return of_file.names.frames.emplace(return_address, std::move(frames)).first->second;
}

NamesByFile Symbolizer::resolve_all(const AddressesByFile& wanted,
                                    const std::function<void(const CodeFile&)>& before_each) {
  NamesByFile result;
  for (const auto& [file, addresses] : wanted) {
    for (const auto address : addresses) {
      before_each(file);
      resolve(file, address);
    }
    const FileNames& known = known_[file].names;
    FileNames& names = result[file];
    names.trouble = known.trouble;
    for (const auto address : addresses) {
      const auto found = known.frames.find(address);
      if (found != known.frames.end()) names.frames.insert(*found);
    }
  }
  return result;
}

std::vector<std::string> Symbolizer::troubles() const {
  std::vector<std::string> clauses;
  for (const auto& [file, _] : known_) {
    if (auto clause = trouble_of(file); !clause.empty()) clauses.push_back(std::move(clause));
  }
  return clauses;
}

std::string Symbolizer::trouble_of(const CodeFile& file) const {
  const std::string why = why_missing(file);
  return why.empty() ? "" : file.path + ": " + why;
}

std::string Symbolizer::why_missing(const CodeFile& file) const {
  const auto found = known_.find(file);
  if (found == known_.end() || !found->second.is_asked) return "";
  const auto without_time = found->second.without_time;
  const std::string& trouble = found->second.names.trouble;
  if (!trouble.empty() || without_time == 0) return trouble;
  return std::to_string(without_time) + (without_time == 1 ? " address was" : " addresses were") +
         " not looked up, for the limit of " + std::to_string(sources_.limit.count() / 1000) + " s was reached";
}

void Symbolizer::keep() const {
  for (const auto& [file, known] : known_) add_to_symbol_cache(sources_.cache_folder, file.build_id, known.fresh);
}

}  // namespace gpumem
