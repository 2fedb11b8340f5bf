#include <memory>

#include "commands/commands.hpp"
#include "commands/doctor_checks.hpp"
#include "commands/output.hpp"
#include "probe/probe.hpp"
#include "probe/start_attempt.hpp"
#include "render/json_parts.hpp"
#include "render/text_diagnosis.hpp"
#include "render/units.hpp"

namespace gpumem {
namespace {

struct Options {
  std::string format = "text";
  int deadline_ms = 10000;
};

std::string text_page_of(const std::vector<Check>& checks, const std::optional<Diagnosis>& why) {
  const auto style = style_of(1);
  TextPage page(style.width, style.colour);
  page.lead(why ? "CUDA does not start here." : "CUDA starts here.");
  if (why) add_diagnosis(page, *why, false);
  page.heading("What was looked at");
  TableRows rows;
  for (const auto& check : checks) rows.push_back({check.is_good ? "ok" : "!!", check.what, printable(check.text)});
  page.table({{""}, {""}, {""}}, rows);
  return page.text();
}

ordered_json json_of(const std::vector<Check>& checks, const std::optional<Diagnosis>& why, const ordered_json& attempt,
                     const ordered_json& machine) {
  ordered_json list = ordered_json::array();
  for (const auto& check : checks)
    list.push_back({{"what", check.what}, {"good", check.is_good}, {"text", check.text}});
  return {{"schema_version", 1}, {"starts", !why},     {"diagnosis", why ? diagnosis_object(*why) : ordered_json()},
          {"checks", list},      {"attempt", attempt}, {"machine", machine}};
}

}  // namespace

void add_doctor_command(CLI::App& app, CommandLine& line) {
  auto* command = app.add_subcommand(
      "doctor", "Whether CUDA starts on this machine, and if not, why: starts it in a process of its own");
  const auto options = std::make_shared<Options>();
  command->add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_option("--deadline", options->deadline_ms, "milliseconds to wait for what does not answer")
      ->check(CLI::Range(1, 3600000))
      ->capture_default_str();
  command->callback([options, &line] {
    const std::chrono::milliseconds deadline(options->deadline_ms);
    // One after the other: a context of ours is nobody to warn of.
    const auto machine = probe(deadline);
    const auto attempt = attempt_start(deadline);
    const auto checks = checks_of(read_machine(machine), attempt);
    const auto why = diagnose_attempt(machine, attempt);
    write_out(
        1,
        options->format == "json"
            ? json_of(checks, why, attempt, machine).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n"
            : text_page_of(checks, why));
    line.status = why ? 1 : 0;
  });
}

}  // namespace gpumem
