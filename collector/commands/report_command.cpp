#include "commands/report_command.hpp"

#include <algorithm>
#include <memory>

#include "commands/output.hpp"
#include "model/error.hpp"
#include "model/journal_set.hpp"
#include "render/json_reports.hpp"
#include "render/text_parts.hpp"
#include "render/units.hpp"
#include "symbols/symbol_file.hpp"

namespace gpumem {
namespace {

struct ReportOptions {
  std::string path;
  std::string format = "text";
  bool lenient = false;
  bool full_stacks = false;
};

std::vector<std::string> overview_row(const ProcessAnalysis& process, std::size_t number) {
  std::uint64_t peak = 0;
  for (const auto& each : process.peaks) peak = std::max(peak, each.moment.bytes);
  return {"[" + std::to_string(number) + "]", grouped(process.failed_calls), bytes_text(peak),
          process_text(process) + " " + end_text(process)};
}

// Journals of one folder, analysed one after the other; names are shared, for the processes share their libraries.
class ReportJob {
 public:
  ReportJob(const ReportKind& kind, const ReportOptions& options) : kind_(kind), options_(options) {}

  void run() {
    const auto journals = find_journals(options_.path);
    for (const auto& files : journals) {
      const auto process = read(files);
      if (!process) continue;
      symbols_.add_known(read_symbol_file(files.symbols_file()));
      CallNames names(*process, symbols_);
      add({*process, names, options_.full_stacks}, journals.size());
    }
    if (shown_ == 0) throw Error(refused_.front());
    write_out(1, options_.format == "json" ? finish_json() : finish_text());
  }

 private:
  std::optional<ProcessAnalysis> read(const JournalFiles& files) {
    const auto how = options_.lenient ? Strictness::lenient : Strictness::strict;
    if (!options_.lenient) return analyze(files, how);
    try {
      return analyze(files, how);
    } catch (const Error& trouble) {
      refused_.push_back(trouble.what());
      return std::nullopt;
    }
  }

  void add(const ProcessView& view, std::size_t of) {
    ++shown_;
    if (options_.format == "json") {
      processes_.push_back(kind_.make_json(view));
      return;
    }
    if (of > 1) {
      overview_.push_back(overview_row(view.process, shown_));
      page_.blank_line();
      page_.line("[" + std::to_string(shown_) + "] " + printable(view.process.journal));
    }
    kind_.add_text(page_, view);
    add_notes(page_, view);
  }

  std::string finish_json() const {
    nlohmann::ordered_json whole = {{"schema_version", report_schema_version},
                                    {"report", kind_.name},
                                    {"path", options_.path},
                                    {"processes", processes_},
                                    {"skipped", refused_},
                                    {"missing_names", symbols_.troubles()}};
    return whole.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }

  std::string finish_text() {
    const auto troubles = symbols_.troubles();
    if (!troubles.empty() || !refused_.empty()) page_.blank_line();
    for (const auto& trouble : troubles) page_.paragraph("No names from " + printable(trouble) + ".");
    for (const auto& trouble : refused_) page_.paragraph("Skipped: " + printable(trouble));
    page_.blank_line();
    page_.line("Next: gpumem " + std::string(kind_.next) + " " + command_text({options_.path}));
    if (overview_.empty()) return page_.text();
    TextPage top(style_.width, style_.colour);
    top.lead(count_of(overview_.size(), "journal") + " in " + printable(options_.path));
    top.table({{"", Align::right}, {"failed calls", Align::right}, {"largest peak", Align::right}, {"process"}},
              overview_);
    top.blank_line();
    return top.text() + page_.text();
  }

  const ReportKind& kind_;
  const ReportOptions& options_;
  Symbolizer symbols_;
  const OutputStyle style_ = style_of(1);
  TextPage page_{style_.width, style_.colour};
  nlohmann::ordered_json processes_ = nlohmann::ordered_json::array();
  TableRows overview_;
  std::vector<std::string> refused_;
  std::size_t shown_ = 0;
};

}  // namespace

void add_report_kind(CLI::App& app, const ReportKind& kind) {
  auto* command = app.add_subcommand(kind.name, kind.summary);
  const auto options = std::make_shared<ReportOptions>();
  command->add_option("PATH", options->path, "a journal (gpumem-*.jsonl) or a folder of journals")->required();
  command->add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command->add_flag("--lenient", options->lenient, "show what can be read of damaged journals");
  command->add_flag("--full-stacks", options->full_stacks, "show all frames, also of CUDA, libc and the interpreter");
  command->callback([options, &kind] { ReportJob(kind, *options).run(); });
}

}  // namespace gpumem
