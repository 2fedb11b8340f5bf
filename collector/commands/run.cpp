#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "commands/child_process.hpp"
#include "commands/commands.hpp"
#include "commands/output.hpp"
#include "commands/run_journals.hpp"
#include "commands/shim_location.hpp"
#include "model/error.hpp"

namespace gpumem {
namespace {

namespace fs = std::filesystem;

// What shells answer when a program cannot be started.
constexpr int status_not_found = 127;
constexpr int status_not_executable = 126;

struct RunOptions {
  std::string folder;
  bool quiet = false;
  bool no_symbolize = false;
};

// LD_PRELOAD takes a list split at blanks and colons, without any way to quote them.
std::string preload_list(const fs::path& shim) {
  if (shim.string().find_first_of(" :") != std::string::npos) {
    throw Error(shim.string() + " cannot be preloaded, because its path holds a blank or a colon; move it elsewhere.");
  }
  const char* before = std::getenv("LD_PRELOAD");
  return before && *before ? shim.string() + ":" + before : shim.string();
}

fs::path prepare_folder(const std::string& folder) {
  if (folder.empty()) return {};
  std::error_code trouble;
  const fs::path absolute = fs::absolute(folder, trouble);
  if (!trouble) fs::create_directories(absolute, trouble);
  if (trouble) throw Error(folder + " cannot be made: " + trouble.message() + ".");
  return absolute;
}

void say(const std::string& text) { write_out(2, text); }

// Nothing that goes wrong here may change how the run ends.
void report_run(const RunOptions& options, const fs::path& folder, const FinishedChild& child) {
  try {
    const auto journals = journals_of_run(journal_folders(folder), child);
    write_status(journals, child);
    if (!options.no_symbolize) write_symbols(journals);
    if (options.quiet) return;
    say(journals.empty() ? "gpumem: no journal was found: the program made no CUDA call that the shim could see.\n"
                         : summary_of_run(journals));
  } catch (const std::exception& trouble) {
    if (options.quiet) return;
    try {
      say(std::string("gpumem: no report of this run: ") + trouble.what() + "\n");
    } catch (const Error&) {
      // Standard error is closed or full.
    }
  }
}

int run(const RunOptions& options, const std::vector<std::string>& command) {
  if (command.empty()) throw Error("No program is named; say: gpumem run -- PROGRAM ARGS...");
  const fs::path folder = prepare_folder(options.folder);
  std::map<std::string, std::string> environment = {{"LD_PRELOAD", preload_list(find_shim())}};
  if (!folder.empty()) environment["GPUMEM_DIR"] = folder.string();
  try {
    const FinishedChild child = run_child(command, environment);
    report_run(options, folder, child);
    return end_like(child.status);
  } catch (const StartFailure& failure) {
    say("gpumem: " + command.front() + ": " + std::strerror(failure.error_number) + "\n");
    return failure.error_number == ENOENT ? status_not_found : status_not_executable;
  }
}

}  // namespace

void add_run_command(CLI::App& app, CommandLine& line) {
  auto* command = app.add_subcommand("run", "Run a program under the shim and sum up what it did");
  const auto options = std::make_shared<RunOptions>();
  command->add_option("-o", options->folder, "folder of the journals (sets GPUMEM_DIR)");
  command->add_flag("--quiet", options->quiet, "no summary on stderr");
  command->add_flag("--no-symbolize", options->no_symbolize, "do not look up names into .symbols.json");
  command->footer("gpumem run [OPTIONS] -- PROGRAM ARGS...");
  command->prefix_command();
  command->callback([options, command, &line] {
    std::vector<std::string> words = command->remaining();
    // Without a program before them, the dashes only end our own options; else they belong to the program.
    if (line.has_dashes && !words.empty()) words.emplace_back("--");
    words.insert(words.end(), line.after_dashes.begin(), line.after_dashes.end());
    line.status = run(*options, std::move(words));
  });
}

}  // namespace gpumem
