#include "commands/report_command.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <set>

#include "analyze/frame_rules.hpp"
#include "commands/frame_list.hpp"
#include "commands/named_journals.hpp"
#include "commands/output.hpp"
#include "commands/symbol_job.hpp"
#include "diagnose/neighbours.hpp"
#include "model/error.hpp"
#include "model/journal_set.hpp"
#include "render/fleet.hpp"
#include "render/json_reports.hpp"
#include "render/text_parts.hpp"
#include "render/units.hpp"
#include "schema.hpp"
#include "symbols/symbol_file.hpp"

namespace gpumem {
namespace {

struct ReportOptions {
  std::string path;
  std::string format = "text";
  std::string frames;
  bool lenient = false;
  bool full_stacks = false;
  bool explain = false;
  double symbol_seconds = default_symbol_seconds;
};

enum class Rank { failing, notable, clean };

bool is_failing(const ProcessAnalysis& process) {
  const bool ended_badly = process.end.how == Ending::killed || process.end.how == Ending::vanished ||
                           process.end.exit_status.value_or(0) != 0;
  const bool has_lasting_failure = std::any_of(process.failures.begin(), process.failures.end(),
                                               [](const auto& each) { return each.end != Outcome::recovered; });
  return ended_badly || has_lasting_failure || !process.in_flight.empty();
}

Rank rank_of(const ProcessAnalysis& process) {
  if (is_failing(process)) return Rank::failing;
  const bool has_leak = std::any_of(process.leaks.begin(), process.leaks.end(),
                                    [](const Leak& each) { return each.what != LeakClass::freed_at_exit; });
  const bool is_whole =
      !process.misses_lines() && !process.misses_blocks() && !process.end.cut && process.passed_by.empty();
  const bool has_ended = process.end.how == Ending::normal || process.end.how == Ending::replaced;
  return has_ended && is_whole && !has_leak && process.failures.empty() ? Rank::clean : Rank::notable;
}

// What one process has to say: shown after all are read, for the worst comes first.
struct Section {
  Rank rank = Rank::notable;
  std::uint64_t wall_ns = 0;
  std::string journal;
  std::vector<std::string> overview;
  std::string text;
  nlohmann::ordered_json json;
};

std::vector<std::string> overview_row(const ProcessAnalysis& process) {
  std::uint64_t peak = 0;
  for (const auto& each : process.peaks) {
    if (is_memory(each.total.kind)) peak = std::max(peak, each.bytes());
  }
  return {grouped(process.failed_calls), bytes_text(peak), clock_text(process.process.wall_ns),
          process_text(process) + " " + end_text(process)};
}

// Why stacks of a program that runs Python show no Python frames; empty where they do, or it does not.
std::string python_trouble(const ProcessAnalysis& process) {
  for (const auto& [path, interpreter] : process.interpreters) {
    if (interpreter.stacks == schema::stacks::declined)
      return "of " + path + ": " + (interpreter.reason.empty() ? "no reason is given" : interpreter.reason);
  }
  if (!process.interpreters.empty()) return "";
  const bool runs_python = std::any_of(process.all_modules.begin(), process.all_modules.end(), [](const auto& entry) {
    return FrameRules::built_in().of_module(entry.second.path.value_or(""), "") == FrameOwner::interpreter;
  });
  return runs_python ? "of " + process_text(process) + ": its journal tells of no interpreter" : "";
}

// Journals of one folder, analysed one after the other; names are shared, for the processes share their libraries.
class ReportJob {
 public:
  ReportJob(const ReportKind& kind, const ReportOptions& options, const CommandLine& line)
      : kind_(kind),
        options_(options),
        line_(line),
        rules_(frame_rules(options.frames)),
        symbols_(sources_here(options.symbol_seconds)) {}

  void run() {
    const auto journals = find_journals(options_.path);
    Neighbourhood neighbourhood(options_.path);
    std::deque<ProcessAnalysis> kept;
    std::vector<FleetSource> sources;
    for (const auto& files : journals) {
      auto process = read(files);
      if (!process) continue;
      symbols_.add_known(read_symbol_file(files.symbols_file()));
      CallNames names(*process, symbols_, rules_);
      const auto troubles = explain(*process, neighbourhood);
      std::map<LineOfJournal, std::string> lines;
      if (options_.explain) lines = find_lines(files, lines_behind(troubles));
      add({*process, troubles, names, options_.full_stacks, options_.explain ? &lines : nullptr, line_.program});
      if (kind_.has_fleet && journals.size() > 1) sources.push_back({&kept.emplace_back(*std::move(process)), files});
    }
    if (sections_.empty()) throw Error(refused_.front());
    fleets_ = find_fleets(sources);
    const std::string text = options_.format == "json" ? finish_json() : finish_text(journals.size() > 1);
    symbols_.keep();
    write_out(1, text);
  }

 private:
  std::optional<ProcessAnalysis> read(const JournalFiles& files) {
    const auto how = options_.lenient ? Strictness::lenient : Strictness::strict;
    try {
      return analyze(files, how);
    } catch (const NothingRecorded& trouble) {
      refused_.push_back(trouble.what());
    } catch (const Error& trouble) {
      if (!options_.lenient) throw;
      refused_.push_back(trouble.what());
    }
    return std::nullopt;
  }

  void add(const ProcessView& view) {
    Section section;
    if (options_.format == "json") {
      section.json = kind_.make_json(view);
    } else {
      TextPage page(style_.width, style_.colour);
      kind_.add_text(page, view);
      add_notes(page, view);
      section.text = page.text();
      section.overview = overview_row(view.process);
    }
    section.rank = rank_of(view.process);
    section.wall_ns = view.process.process.wall_ns;
    section.journal = printable(view.process.journal);
    if (std::string trouble = python_trouble(view.process); !trouble.empty())
      python_troubles_.insert(std::move(trouble));
    if (const char* next = kind_.next(view.process)) next_ = next;
    sections_.push_back(std::move(section));
  }

  std::string finish_json() {
    // Before the names that are missing: it looks for some itself.
    nlohmann::ordered_json fleet = json_fleets(fleets_, symbols_, rules_);
    nlohmann::ordered_json whole = {
        {"schema_version", report_schema_version},      {"report", kind_.name}, {"path", options_.path},
        {"processes", nlohmann::ordered_json::array()}, {"skipped", refused_},  {"missing_names", symbols_.troubles()}};
    if (kind_.has_fleet) whole["fleet"] = std::move(fleet);
    for (const auto& section : sections_) whole["processes"].push_back(section.json);
    return whole.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }

  // Failing processes first, then the newest; all in a table, and those of which there is more to say below it.
  std::string sections_of_folder() {
    std::stable_sort(sections_.begin(), sections_.end(), [](const Section& a, const Section& b) {
      const bool a_fails = a.rank == Rank::failing, b_fails = b.rank == Rank::failing;
      return a_fails != b_fails ? a_fails : a.wall_ns > b.wall_ns;
    });
    TableRows rows;
    std::string texts;
    std::size_t collapsed = 0;
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const std::string number = "[" + std::to_string(i + 1) + "]";
      rows.push_back(sections_[i].overview);
      rows.back().insert(rows.back().begin(), number);
      if (kind_.collapses_clean && sections_[i].rank == Rank::clean) {
        rows.back().back() += "; nothing failed, nothing live: " + sections_[i].journal;
        ++collapsed;
      } else {
        texts += "\n" + number + " " + sections_[i].journal + "\n" + sections_[i].text;
      }
    }
    TextPage top(style_.width, style_.colour);
    add_fleets(top, fleets_, symbols_, rules_);
    top.lead(count_of(sections_.size(), "journal") + " in " + printable(options_.path));
    top.table({{"", Align::right},
               {"failed calls", Align::right},
               {"largest peak", Align::right},
               {"first CUDA call"},
               {"process"}},
              rows);
    if (collapsed > 0) top.paragraph("Of a clean one, name its journal to see everything.", 2);
    return top.text() + texts;
  }

  std::string finish_text(bool is_folder) {
    const std::string body = is_folder ? sections_of_folder() : sections_.front().text;
    TextPage page(style_.width, style_.colour);
    for (const auto& trouble : symbols_.troubles()) page.paragraph("No names from " + printable(trouble) + ".");
    for (const auto& trouble : refused_) page.paragraph("Skipped: " + printable(trouble));
    for (const auto& trouble : python_troubles_) page.paragraph("No Python frames " + printable(trouble) + ".");
    if (next_) {
      page.blank_line();
      page.line("Next: " + line_.program + " " + next_ + " " + command_text({options_.path}));
    }
    return page.text().empty() ? body : body + "\n" + page.text();
  }

  const ReportKind& kind_;
  const ReportOptions& options_;
  const CommandLine& line_;
  const FrameRules rules_;
  Symbolizer symbols_;
  const OutputStyle style_ = style_of(1);
  std::vector<Section> sections_;
  std::vector<Fleet> fleets_;
  std::vector<std::string> refused_;
  const char* next_ = nullptr;
  std::set<std::string> python_troubles_;
};

}  // namespace

void add_report_kind(CLI::App& app, const ReportKind& kind, const CommandLine& line) {
  auto* command = app.add_subcommand(kind.name, kind.summary);
  const auto options = std::make_shared<ReportOptions>();
  command->add_option("PATH", options->path, path_help)->required();
  command->add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command->add_flag("--lenient", options->lenient, "show what can be read of damaged journals");
  command->add_flag("--full-stacks", options->full_stacks,
                    "show all frames, also of frameworks, CUDA, libc and the interpreter");
  command->add_option("--frames", options->frames,
                      "a list of whose frames are whose, before gpumem's own: help frames");
  command->add_flag("--explain", options->explain,
                    "name the lines of the journal behind each piece of evidence, and show them");
  add_symbol_limit(*command, options->symbol_seconds);
  command->callback([options, &kind, &line] {
    options->path = named_path(options->path);
    ReportJob(kind, *options, line).run();
  });
}

}  // namespace gpumem
