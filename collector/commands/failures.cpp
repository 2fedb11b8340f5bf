#include "commands/commands.hpp"
#include "commands/report_command.hpp"
#include "render/json_reports.hpp"

namespace gpumem {
namespace {

void add_text(TextPage& page, const ProcessView& view) {
  add_title(page, view);
  page.blank_line();
  add_failures(page, view);
}

const char* next(const ProcessAnalysis& process) { return process.peaks.empty() ? nullptr : "peak"; }

constexpr ReportKind failures_kind{"failures", "Calls that failed, and why", add_text, json_failures, true, next};

}  // namespace

void add_failures_command(CLI::App& app, CommandLine& line) { add_report_kind(app, failures_kind, line); }

}  // namespace gpumem
