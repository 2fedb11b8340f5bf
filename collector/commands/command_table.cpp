#include <algorithm>
#include <string_view>

#include "commands/commands.hpp"
#include "model/error.hpp"
#include "render/units.hpp"

namespace gpumem {
namespace {

// In the order in which --help lists them.
constexpr AddCommand command_table[] = {
    add_run_command,       add_report_command, add_failures_command, add_peak_command,   add_leaks_command,
    add_snapshot_command,  add_top_command,    add_mark_command,     add_doctor_command, add_probe_command,
    add_symbolize_command, add_bundle_command, add_path_command,     add_help_command,
};

// One sentence; CLI11's own may have several lines.
std::string sentence_of(const CLI::ParseError& trouble) {
  std::string text = trouble.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  return text;
}

[[noreturn]] void refuse(const CLI::App& app, const CommandLine& line, const CLI::ParseError& trouble) {
  const auto commands = app.get_subcommands();
  const std::string help = line.program + (commands.empty() ? "" : " " + commands.front()->get_name()) + " --help";
  throw Error(sentence_of(trouble) + "; see " + help);
}

void refuse_unknown_command(const CLI::App& app, const CommandLine& line, const std::string& word) {
  if (word.starts_with("-") || find_command(app, word)) return;
  throw Error((word.empty() ? "The empty text" : printable(word)) + " is no command; see " + line.program + " --help");
}

}  // namespace

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  const auto found = app.get_subcommands([&name](const CLI::App* each) { return each->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

int run_command_line(int argc, char** argv) {
  CLI::App app("Why CUDA would not start, what leaks, and where the GPU memory peak came from.", "gpumem");
  app.set_version_flag("--version", "gpumem " GPUMEM_VERSION);
  app.require_subcommand(1);
  CommandLine line;
  line.program = command_text({argc > 0 ? argv[0] : "gpumem"});
  for (const auto add : command_table) add(app, line);
  // Set last, for commands inherit what stands here when they are added.
  app.footer("First: gpumem run -- PROGRAM ARGS...");
  char** const dashes = std::find(argv, argv + argc, std::string_view("--"));
  line.has_dashes = dashes != argv + argc;
  if (line.has_dashes) line.after_dashes.assign(dashes + 1, argv + argc);
  if (dashes == argv + 1) throw Error("No command is named; see " + line.program + " --help");
  if (argc > 1) refuse_unknown_command(app, line, argv[1]);
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::ParseError& trouble) {
    if (trouble.get_exit_code() == 0) return app.exit(trouble);
    refuse(app, line, trouble);
  }
  return line.status;
}

}  // namespace gpumem
