#include "commands/commands.hpp"
#include "commands/report_command.hpp"
#include "render/json_reports.hpp"

namespace gpumem {
namespace {

void add_text(TextPage& page, const ProcessView& view) {
  add_title(page, view);
  page.blank_line();
  add_peaks(page, view);
}

const char* next(const ProcessAnalysis& process) { return process.leaks.empty() ? nullptr : "leaks"; }

constexpr ReportKind peak_kind{"peak", "The highest use of memory, and who held it then", add_text, json_peaks, false,
                               next};

}  // namespace

void add_peak_command(CLI::App& app, CommandLine& line) { add_report_kind(app, peak_kind, line); }

}  // namespace gpumem
