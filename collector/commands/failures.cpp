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

constexpr ReportKind failures_kind{"failures", "Calls that failed, and why", add_text, json_failures, "peak"};

}  // namespace

void add_failures_command(CLI::App& app, CommandLine&) { add_report_kind(app, failures_kind); }

}  // namespace gpumem
