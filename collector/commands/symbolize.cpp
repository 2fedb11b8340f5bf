#include <algorithm>
#include <memory>

#include "commands/commands.hpp"
#include "commands/named_journals.hpp"
#include "commands/output.hpp"
#include "commands/symbol_job.hpp"
#include "render/text_page.hpp"
#include "render/units.hpp"

namespace gpumem {
namespace {

struct Options {
  std::string path;
  double limit_seconds = default_symbol_seconds;
};

std::string text_of(const std::vector<SymbolCount>& counts) {
  const auto style = style_of(1);
  TextPage page(style.width, style.colour);
  SymbolCount all;
  TableRows rows;
  for (const auto& each : counts) {
    all.addresses += each.addresses;
    all.named += each.named;
    all.with_line += each.with_line;
    rows.push_back({grouped(each.addresses), grouped(each.named), grouped(each.with_line), printable(each.path)});
  }
  page.lead(grouped(all.named) + " of " + count_of(all.addresses, "address") + " have names, " +
            grouped(all.with_line) + " with file and line");
  page.table({{"addresses", Align::right}, {"names", Align::right}, {"lines", Align::right}, {"file"}}, rows);
  for (const auto& each : counts) {
    if (!each.trouble.empty()) {
      page.paragraph("No names from " + printable(each.path) + ": " + each.trouble + ".");
    } else if (each.named < each.addresses) {
      page.paragraph(printable(each.path) + " names no function at " +
                     count_of(each.addresses - each.named, "address") + ": it is stripped, or the code has no symbol.");
    }
  }
  return page.text();
}

}  // namespace

void add_symbolize_command(CLI::App& app, CommandLine&) {
  auto* command = app.add_subcommand(
      "symbolize", "Look up names for the addresses of journals, into .symbols.json, where the files of the run are");
  const auto options = std::make_shared<Options>();
  command->add_option("PATH", options->path, path_help)->required();
  add_symbol_limit(*command, options->limit_seconds);
  command->callback([options] {
    write_out(1, text_of(symbolize(find_journals(named_path(options->path)), options->limit_seconds)));
  });
}

}  // namespace gpumem
