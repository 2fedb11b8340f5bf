#include "commands/run_journals.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "commands/output.hpp"
#include "diagnose/neighbours.hpp"
#include "model/error.hpp"
#include "model/journal_reader.hpp"
#include "render/call_names.hpp"
#include "render/text_reports.hpp"
#include "render/units.hpp"
#include "symbols/symbol_file.hpp"

namespace gpumem {
namespace {

namespace fs = std::filesystem;

struct CandidateJournal {
  JournalFiles files;
  ProcessRecord process;
};

std::vector<CandidateJournal> candidates_in(const std::vector<fs::path>& folders, std::uint64_t since_wall_ns) {
  std::vector<CandidateJournal> found;
  for (const auto& folder : folders) {
    try {
      for (auto& files : find_journals(folder)) {
        const auto process = read_process_line(files);
        if (process && process->wall_ns >= since_wall_ns) found.push_back({std::move(files), *process});
      }
    } catch (const std::runtime_error&) {
      // No such folder, or no journal in it.
    }
  }
  return found;
}

bool is_journal_of(const ProcessRecord& process, const FinishedChild& child) {
  return process.pid == child.status.pid && process.start == child.start;
}

constexpr std::size_t most_processes_in_summary = 4;

}  // namespace

std::vector<fs::path> journal_folders(const fs::path& chosen) {
  std::vector<fs::path> folders = {chosen};
  const char* temporary = std::getenv("TMPDIR");
  folders.push_back(fs::path(temporary && *temporary ? temporary : "/tmp") / ("gpumem-" + std::to_string(::getuid())));
  return folders;
}

std::vector<JournalFiles> journals_of_run(const std::vector<fs::path>& folders, const FinishedChild& child) {
  const auto candidates = candidates_in(folders, child.status.started_ns);
  std::set<std::int64_t> family = {child.status.pid};
  // A descendant may stand before its parent in the list, so look until nobody is added.
  for (std::size_t before = 0; before != family.size();) {
    before = family.size();
    for (const auto& each : candidates) {
      const bool has_known_origin = each.process.forked_from && family.count(each.process.forked_from->pid) > 0;
      if (family.count(each.process.ppid) > 0 || has_known_origin) family.insert(each.process.pid);
    }
  }
  std::vector<JournalFiles> journals;
  for (const auto& each : candidates) {
    const bool is_other_process = each.process.pid == child.status.pid && !is_journal_of(each.process, child);
    if (family.count(each.process.pid) > 0 && !is_other_process) journals.push_back(each.files);
  }
  return journals;
}

void write_status(const std::vector<JournalFiles>& journals, const FinishedChild& child) {
  for (const auto& files : journals) {
    const auto process = read_process_line(files);
    if (process && is_journal_of(*process, child) && !files.replaced_by_exec) {
      write_status_file(files.status_file(), child.status);
    }
  }
}

std::string child_end_text(const FinishedChild& child) {
  constexpr std::size_t longest_argument = 40;
  constexpr std::size_t longest_command = 70;
  const ExitRecord& status = child.status;
  return shortened(command_text(status.command, longest_argument), longest_command) +
         (status.signal ? " was killed by " + signal_text(*status.signal)
                        : " ended with status " + std::to_string(status.exit_status.value_or(0))) +
         " after " + duration_text(status.ended_ns - std::min(status.started_ns, status.ended_ns));
}

std::string summary_of_run(const std::vector<JournalFiles>& journals, const FinishedChild& child,
                           const std::string& program) {
  const auto style = style_of(2);
  TextPage page(style.width, style.colour);
  page.paragraph("gpumem: " + child_end_text(child) + ".");
  Symbolizer symbols;
  Neighbourhood neighbourhood(journals.front().segments.front());
  std::size_t shown = 0;
  for (const auto& files : journals) {
    if (shown == most_processes_in_summary) break;
    const auto process = analyze(files, Strictness::lenient);
    symbols.add_known(read_symbol_file(files.symbols_file()));
    CallNames names(process, symbols);
    if (shown++ > 0) page.blank_line();
    add_headline(page, {process, explain(process, neighbourhood), names, false, nullptr, program});
  }
  if (journals.size() > shown) {
    page.paragraph("... and " + count_of(journals.size() - shown, "more process") + ".");
  }
  const bool is_one = journals.size() == 1;
  const fs::path path = is_one ? journals.front().segments.front() : journals.front().segments.front().parent_path();
  page.line("Next: " + program + " report " + command_text({path.string()}));
  return page.text();
}

}  // namespace gpumem
