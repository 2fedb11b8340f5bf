#include <string>

#include "commands/commands.hpp"
#include "commands/output.hpp"
#include "render/text_page.hpp"

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

}  // namespace

void add_help_command(CLI::App& app, CommandLine&) {
  auto* help = app.add_subcommand("help", "Explain the settings of the shim");
  help->require_subcommand(1);
  help->add_subcommand("settings", "List every GPUMEM_* variable")->callback(print_settings);
}

}  // namespace gpumem
