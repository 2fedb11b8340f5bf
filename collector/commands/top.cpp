#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include "commands/commands.hpp"
#include "commands/named_journals.hpp"
#include "commands/output.hpp"
#include "commands/screen.hpp"
#include "commands/symbol_job.hpp"
#include "model/error.hpp"
#include "model/journal_set.hpp"
#include "render/top_table.hpp"
#include "render/units.hpp"
#include "symbols/symbol_file.hpp"

namespace gpumem {
namespace {

constexpr std::chrono::milliseconds between_looks{1000};
constexpr double symbol_seconds_of_top = 2;  // a page that comes late is worth little

struct Options {
  std::string path;
  std::string format = "text";
  bool once = false;
};

// Follows the journals of a PATH. Only reads them.
class Top {
 public:
  explicit Top(std::string path) : path_(std::move(path)), symbols_(sources_here(symbol_seconds_of_top)) {}

  // The processes that run; where none does, all.
  std::vector<TopRow> look() {
    std::vector<TopRow> rows;
    for (const auto& files : find_journals(path_)) {
      try {
        look_at(files, rows);
      } catch (const Error&) {
        // Not a line yet, or it has just been taken away.
      }
    }
    sort_rows(rows);
    const auto ended = std::find_if(rows.begin(), rows.end(), [](const TopRow& row) { return !row.end.empty(); });
    if (ended != rows.begin()) rows.erase(ended, rows.end());
    return rows;
  }

 private:
  struct Followed {
    Watch watch;
    TopProcess rates;
  };

  void look_at(const JournalFiles& files, std::vector<TopRow>& rows) {
    auto [found, is_new] = followed_.try_emplace(files.stem);
    if (is_new) symbols_.add_known(read_symbol_file(files.symbols_file()));
    const auto& process = found->second.watch.look(files);
    CallNames names(process, symbols_);
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const auto now_ns = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    for (auto& row : found->second.rates.look(process, names, now_ns)) rows.push_back(std::move(row));
  }

  std::string path_;
  Symbolizer symbols_;
  std::map<std::string, Followed> followed_;  // by stem
};

bool has_running(const std::vector<TopRow>& rows) { return !rows.empty() && rows.front().end.empty(); }

// Twice, for what goes on while somebody waits is a rate.
void show_once(Top& top, const Options& options) {
  auto rows = top.look();
  if (has_running(rows)) {
    std::this_thread::sleep_for(between_looks);
    rows = top.look();
  }
  if (options.format == "json") {
    return write_out(1, json_top(rows).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }
  const auto style = style_of(1);
  TextPage page(style.width, style.colour);
  add_top(page, rows);
  write_out(1, page.text());
}

void keep_showing(Top& top) {
  Screen screen;
  do {
    const auto style = style_of(1);
    TextPage page(style.width, style.colour);
    add_top(page, top.look());
    page.blank_line();
    page.paragraph("q leaves");
    screen.show(page.text());
  } while (screen.wait(between_looks));
}

void show(const Options& options) {
  Top top(options.path.empty() ? usual_folder() : named_path(options.path));
  const bool is_terminal = ::isatty(0) && ::isatty(1);
  if (options.once || options.format == "json" || !is_terminal) return show_once(top, options);
  keep_showing(top);
}

}  // namespace

void add_top_command(CLI::App& app, CommandLine&) {
  auto* command = app.add_subcommand("top", "What running processes hold, each second anew");
  const auto options = std::make_shared<Options>();
  command->add_option("PATH", options->path, std::string(path_help) + "; else where journals go");
  command->add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command->add_flag("--once", options->once, "print one table and end, as without a terminal");
  command->callback([options] { show(*options); });
}

}  // namespace gpumem
