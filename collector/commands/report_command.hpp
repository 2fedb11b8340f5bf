// What the commands that answer from a PATH have in common: options, reading, symbols, the two formats.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "render/text_reports.hpp"

namespace gpumem {

struct ReportKind {
  const char* name;
  const char* summary;
  void (*add_text)(TextPage&, const ProcessView&);
  nlohmann::ordered_json (*make_json)(const ProcessView&);
  const char* next;  // command that one would want next
};

// `kind` must live as long as the program.
void add_report_kind(CLI::App& app, const ReportKind& kind);

}  // namespace gpumem
