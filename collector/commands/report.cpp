#include "commands/commands.hpp"
#include "commands/report_command.hpp"
#include "render/json_reports.hpp"

namespace gpumem {
namespace {

constexpr ReportKind report_kind_of_all{"report", "Everything about the processes of PATH, the verdict first",
                                        add_report, json_report, "leaks"};

}  // namespace

void add_report_command(CLI::App& app, CommandLine&) { add_report_kind(app, report_kind_of_all); }

}  // namespace gpumem
