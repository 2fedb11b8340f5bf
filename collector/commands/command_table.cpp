#include <algorithm>
#include <string_view>

#include "commands/commands.hpp"

namespace gpumem {
namespace {

// In the order in which --help lists them.
constexpr AddCommand command_table[] = {
    add_run_command,   add_report_command, add_failures_command, add_peak_command,
    add_leaks_command, add_path_command,   add_help_command,
};

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app("Why CUDA would not start, what leaks, and where the GPU memory peak came from.", "gpumem");
  app.set_version_flag("--version", "gpumem " GPUMEM_VERSION);
  app.require_subcommand(1);
  app.footer("First: gpumem run -- PROGRAM ARGS...");
  CommandLine line;
  for (const auto add : command_table) add(app, line);
  char** const dashes = std::find(argv, argv + argc, std::string_view("--"));
  line.has_dashes = dashes != argv + argc;
  if (line.has_dashes) line.after_dashes.assign(dashes + 1, argv + argc);
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::ParseError& trouble) {
    return app.exit(trouble) == 0 ? 0 : status_cannot_answer;
  }
  return line.status;
}

}  // namespace gpumem
