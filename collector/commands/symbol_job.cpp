#include "commands/symbol_job.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "commands/progress.hpp"
#include "model/error.hpp"
#include "model/journal_reader.hpp"
#include "probe/section.hpp"
#include "render/call_names.hpp"
#include "symbols/symbol_cache.hpp"
#include "symbols/symbol_file.hpp"

namespace gpumem {
namespace {

using nlohmann::ordered_json;

// Beyond the limit, which the look-up itself keeps: for a file system or a library that does not come back.
constexpr std::chrono::seconds grace{5};

AddressesByFile addresses_of(const JournalFiles& files) {
  AddressesByFile addresses;
  Modules modules;
  std::set<Frame> frames;
  read_journal(files, Strictness::lenient, [&](const Record& line) {
    if (const auto* module = std::get_if<ModuleRecord>(&line)) modules.emplace(module->id, *module);
    if (const auto* stack = std::get_if<StackRecord>(&line)) frames.insert(stack->frames.begin(), stack->frames.end());
  });
  for (const auto& frame : frames) {
    const auto module = modules.find(frame.module);  // a Python place has none
    if (module != modules.end()) addresses[code_file_of(module->second)].insert(frame.offset);
  }
  return addresses;
}

bool has_line(const NamedFrames& frames) { return !frames.empty() && frames.front().file.has_value(); }

bool is_as_good(const NamedFrames& found, const NamedFrames& known) {
  return has_line(found) || (!has_line(known) && (!found.empty() || known.empty()));
}

void take_better(NamesByFile& known, const NamesByFile& found) {
  for (const auto& [file, names] : found) {
    FileNames& to = known[file];
    if (names.trouble.empty() || to.frames.empty()) to.trouble = names.trouble;
    for (const auto& [address, frames] : names.frames) {
      const auto [slot, is_new] = to.frames.emplace(address, frames);
      if (!is_new && is_as_good(frames, slot->second)) slot->second = frames;
    }
  }
}

SymbolCount count_of_file(const CodeFile& file, const std::set<std::uint64_t>& wanted, const FileNames& names) {
  SymbolCount count{file.path, wanted.size(), 0, 0, names.trouble};
  for (const auto address : wanted) {
    const auto found = names.frames.find(address);
    if (found == names.frames.end()) continue;
    count.named += !found->second.empty();
    count.with_line += has_line(found->second);
  }
  return count;
}

// In the process of its own.
void look_up(const std::vector<JournalFiles>& journals, double limit_seconds, int terminal, Findings& findings) {
  std::vector<AddressesByFile> wanted;
  std::size_t steps = 0;
  for (const auto& files : journals) {
    wanted.push_back(addresses_of(files));
    for (const auto& [_, addresses] : wanted.back()) steps += addresses.size();
  }
  Symbolizer symbols(sources_here(limit_seconds));
  std::map<CodeFile, SymbolCount> counts;
  {
    Progress progress(terminal, steps);
    std::string last;
    for (std::size_t i = 0; i < journals.size(); ++i) {
      auto known = read_symbol_file(journals[i].symbols_file());
      take_better(known, symbols.resolve_all(wanted[i], [&](const CodeFile& file) {
        if (file.path != last) findings.doing(last = file.path);
        progress.step(last);
      }));
      for (const auto& [file, addresses] : wanted[i]) {
        SymbolCount count = count_of_file(file, addresses, known[file]);
        if (count.trouble.empty()) count.trouble = symbols.why_missing(file);
        auto& sum = counts.emplace(file, SymbolCount{file.path, 0, 0, 0, count.trouble}).first->second;
        sum.addresses += count.addresses;
        sum.named += count.named;
        sum.with_line += count.with_line;
      }
      write_symbol_file(journals[i].symbols_file(), known);
    }
  }
  symbols.keep();
  for (const auto& [_, count] : counts) {
    findings.add("/files/-", {count.path, count.addresses, count.named, count.with_line, count.trouble});
  }
}

}  // namespace

void add_symbol_limit(CLI::App& command, double& seconds) {
  command.add_option("--symbol-limit", seconds, "seconds that looking up names may take")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
}

SymbolSources sources_here(double limit_seconds) {
  SymbolSources sources;
  sources.cache_folder = symbol_cache_folder();
  sources.limit = std::chrono::milliseconds(static_cast<std::int64_t>(limit_seconds * 1000));
  return sources;
}

std::vector<SymbolCount> symbolize(const std::vector<JournalFiles>& journals, double limit_seconds) {
  if (journals.empty()) return {};
  const int terminal = ::isatty(2) ? ::fcntl(2, F_DUPFD_CLOEXEC, 3) : -1;
  const Section section = [&](Findings& findings) {
    findings.add("/files", ordered_json::array());
    try {
      look_up(journals, limit_seconds, terminal, findings);
    } catch (const std::exception& trouble) {
      findings.add("/trouble", trouble.what());
    }
  };
  const auto limit = sources_here(limit_seconds).limit + grace;
  const ordered_json result = run_sections({section}, limit).front();
  if (terminal >= 0) ::close(terminal);
  if (result.contains("trouble")) throw Error(result["trouble"].get<std::string>());
  if (result["status"] != "ok") {
    throw Error("The look-up of names " + result["status"].get<std::string>() +
                (result.contains("in") ? " in " + result["in"].get<std::string>() : "") + ".");
  }
  std::vector<SymbolCount> counts;
  for (const auto& each : result["files"]) counts.push_back({each[0], each[1], each[2], each[3], each[4]});
  return counts;
}

}  // namespace gpumem
