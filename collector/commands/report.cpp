#include "commands/commands.hpp"
#include "commands/report_command.hpp"
#include "render/json_reports.hpp"

namespace gpumem {
namespace {

// The report holds all that the others would say.
const char* next(const ProcessAnalysis&) { return nullptr; }

constexpr ReportKind report_kind_of_all{
    "report", "Everything about the processes of PATH, the verdict first", add_report, json_report, true, next, true};

}  // namespace

void add_report_command(CLI::App& app, CommandLine& line) { add_report_kind(app, report_kind_of_all, line); }

}  // namespace gpumem
