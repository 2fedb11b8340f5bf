#include "probe/probe.hpp"

#include <unistd.h>

#include <memory>

#include "commands/commands.hpp"
#include "commands/output.hpp"
#include "render/text_page.hpp"
#include "render/units.hpp"

namespace gpumem {
namespace {

using nlohmann::ordered_json;

std::string text_of(const ordered_json& value) {
  if (value.is_null()) return "not known";
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  return value.empty() ? "none" : value.dump();
}

bool is_one_line(const ordered_json& value) {
  return value.empty() || value.is_primitive() || (value.is_array() && value[0].is_primitive());
}

// The object as an outline: one line for each value, what belongs together further in.
void add_outline(TextPage& page, const ordered_json& object, std::size_t indent) {
  for (const auto& [key, value] : object.items()) {
    const std::string label = object.is_array() ? "-" : key;
    if (is_one_line(value)) {
      page.hanging(label + (object.is_array() ? " " : ": ") + text_of(value), indent);
    } else {
      page.line(label, indent);
      add_outline(page, value, indent + 2);
    }
  }
}

std::string text_page_of(const ordered_json& found) {
  const auto style = style_of(1);
  TextPage page(style.width, style.colour);
  add_outline(page, found, 0);
  return page.text();
}

struct Options {
  std::string format = "json";
  int deadline_ms = 2000;
};

}  // namespace

void add_probe_command(CLI::App& app, CommandLine&) {
  auto* command = app.add_subcommand(
      "probe", "What NVML, the device files and the system say now: who holds the GPUs, and what stands in the way");
  const auto options = std::make_shared<Options>();
  command->add_option("--format", options->format, "json or text")
      ->check(CLI::IsMember({"json", "text"}))
      ->capture_default_str();
  command->add_option("--deadline", options->deadline_ms, "milliseconds to wait for what does not answer")
      ->check(CLI::Range(1, 3600000))
      ->capture_default_str();
  command->callback([options] {
    const auto found = probe(std::chrono::milliseconds(options->deadline_ms));
    const bool as_text = options->format == "text";
    const int indent = ::isatty(1) ? 2 : -1;  // for a program: one line
    write_out(1, as_text ? text_page_of(found)
                         : found.dump(indent, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  });
}

}  // namespace gpumem
