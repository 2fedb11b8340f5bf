#include "commands/commands.hpp"
#include "commands/report_command.hpp"
#include "render/json_reports.hpp"

namespace gpumem {
namespace {

const char* next(const ProcessAnalysis&) { return "report"; }

constexpr ReportKind snapshot_kind{
    "snapshot", "What is live now, by device, kind and call site", add_snapshot, json_snapshot, false, next};

}  // namespace

void add_snapshot_command(CLI::App& app, CommandLine& line) { add_report_kind(app, snapshot_kind, line); }

}  // namespace gpumem
