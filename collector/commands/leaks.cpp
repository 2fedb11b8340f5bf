#include "commands/commands.hpp"
#include "commands/report_command.hpp"
#include "render/json_reports.hpp"

namespace gpumem {
namespace {

void add_text(TextPage& page, const ProcessView& view) {
  add_title(page, view);
  page.blank_line();
  add_leaks(page, view);
}

const char* next(const ProcessAnalysis& process) { return process.peaks.empty() ? nullptr : "peak"; }

constexpr ReportKind leaks_kind{"leaks", "Memory that was not given back, by call site", add_text, json_leaks, true,
                                next};

}  // namespace

void add_leaks_command(CLI::App& app, CommandLine& line) { add_report_kind(app, leaks_kind, line); }

}  // namespace gpumem
