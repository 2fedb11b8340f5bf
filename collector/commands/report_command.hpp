// What the commands that answer from a PATH have in common: options, reading, symbols, the two formats.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "render/text_reports.hpp"

namespace gpumem {

struct ReportKind {
  const char* name;
  const char* summary;
  void (*add_text)(TextPage&, const ProcessView&);
  nlohmann::ordered_json (*make_json)(const ProcessView&);
  bool collapses_clean;  // whether a process of which there is nothing to say gets one line in a folder's report
  const char* (*next)(const ProcessAnalysis&);  // command that one would want next, or null
  bool has_fleet = false;                       // whether processes of one time are also shown as one job
};

// `kind` must live as long as the program.
void add_report_kind(CLI::App& app, const ReportKind& kind, const CommandLine& line);

}  // namespace gpumem
