#include <memory>
#include <string>

#include "commands/commands.hpp"
#include "commands/frame_list.hpp"
#include "commands/output.hpp"
#include "model/error.hpp"
#include "render/text_page.hpp"
#include "render/units.hpp"

namespace gpumem {
namespace {

std::string default_text(const char* value) { return *value ? value : "(empty)"; }
std::string default_text(bool value) { return value ? "1" : "0"; }
std::string default_text(int value) { return std::to_string(value); }

// As one would type it: 268435456 -> 256M.
std::string default_text(unsigned long long bytes) {
  constexpr const char* suffixes[] = {"", "K", "M", "G"};
  std::size_t suffix = 0;
  while (bytes >= 1024 && bytes % 1024 == 0 && suffix + 1 < std::size(suffixes)) {
    bytes /= 1024;
    ++suffix;
  }
  return std::to_string(bytes) + suffixes[suffix];
}

const TableRows& settings_rows() {
  static const TableRows rows = {
#define SETTING(type, identifier, variable, value, what) {variable, #type, default_text(value), what},
#include "settings.def"
#undef SETTING
  };
  return rows;
}

void print_settings() {
  const auto style = style_of(1);
  TextPage page(style.width, style.colour);
  page.paragraph(
      "Environment variables that the shim reads when it starts. A value that does not parse is reported in "
      "one line, and the default is used.");
  page.blank_line();
  page.table({{"variable"}, {"type"}, {"default"}, {"what it does"}}, settings_rows(), 0);
  write_out(1, page.text());
}

// A list itself, so that it can be copied and changed.
void print_frames() {
  const std::string usual = usual_frame_list();
  write_out(1, "# Lines of " + (usual.empty() ? "" : printable(usual) + ", or of ") +
                   "the file that --frames names, win over these.\n#\n" + std::string(FrameRules::built_in_text()));
}

void print_help(const CLI::App& app, const CommandLine& line, const std::string& topic) {
  // App::help would answer for the subcommand that was parsed, which is this one.
  if (topic.empty()) {
    return write_out(1, app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal));
  }
  if (topic == "settings") return print_settings();
  if (topic == "frames") return print_frames();
  const auto* command = find_command(app, topic);
  if (!command) throw Error(printable(topic) + " is no command; see " + line.program + " --help");
  write_out(1, command->help(app.get_name()));
}

}  // namespace

void add_help_command(CLI::App& app, CommandLine& line) {
  auto* help = app.add_subcommand("help", "Explain a command, the settings of the shim, or which frames are folded");
  const auto topic = std::make_shared<std::string>();
  help->add_option("TOPIC", *topic,
                   "a command, \"settings\" for every GPUMEM_* variable, or \"frames\" for what reports fold");
  help->callback([&app, &line, topic] { print_help(app, line, *topic); });
}

}  // namespace gpumem
