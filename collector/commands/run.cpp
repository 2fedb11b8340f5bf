#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "commands/child_process.hpp"
#include "commands/commands.hpp"
#include "commands/output.hpp"
#include "commands/run_journals.hpp"
#include "commands/shim_location.hpp"
#include "commands/symbol_job.hpp"
#include "model/error.hpp"
#include "probe/cgroup.hpp"
#include "render/units.hpp"

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
  double symbol_seconds = default_symbol_seconds;
};

// LD_PRELOAD takes a list split at blanks and colons, without any way to quote them.
std::string preload_list(const fs::path& shim) {
  if (shim.string().find_first_of(" :") != std::string::npos) {
    throw Error(shim.string() + " cannot be preloaded, because its path holds a blank or a colon; move it elsewhere.");
  }
  const char* before = std::getenv("LD_PRELOAD");
  return before && *before ? shim.string() + ":" + before : shim.string();
}

// Absolute, so that a program that changes its directory leaves its journals where we look for them.
fs::path choose_folder(const std::string& given) {
  const char* from_environment = std::getenv("GPUMEM_DIR");
  const bool has_variable = from_environment && *from_environment;
  std::error_code trouble;
  const fs::path folder = fs::absolute(!given.empty() ? given : has_variable ? from_environment : "gpumem", trouble);
  if (!given.empty() && !trouble) fs::create_directories(folder, trouble);
  if (trouble) throw Error((given.empty() ? folder.string() : given) + " cannot be used: " + trouble.message() + ".");
  return folder;
}

void say(const std::string& text) { write_out(2, text); }

std::string no_journal_text(const std::vector<fs::path>& folders, const FinishedChild& child) {
  std::string places;
  for (const auto& folder : folders) places += (places.empty() ? "" : " and ") + folder.string();
  return "gpumem: " + child_end_text(child) + "; no journal of it was found. Looked in " + places +
         ". Possible causes: it made no CUDA call; GPUMEM_DISABLE=1; it is linked statically or runs set-user-ID, so "
         "nothing can be preloaded; its CUDA library is opened with RTLD_DEEPBIND; it starts its children with a "
         "cleared environment.\n";
}

// Nothing that goes wrong here may change how the run ends.
void report_run(const RunOptions& options, const fs::path& folder, const FinishedChild& child,
                const std::string& program) {
  try {
    const auto folders = journal_folders(folder);
    const auto journals = journals_of_run(folders, child);
    write_status(journals, child);
    if (!options.no_symbolize) symbolize(journals, options.symbol_seconds);
    if (options.quiet) return;
    say(journals.empty() ? no_journal_text(folders, child) : summary_of_run(journals, child, program));
  } catch (const std::exception& trouble) {
    if (options.quiet) return;
    try {
      say("gpumem: " + child_end_text(child) + "; no report of this run: " + trouble.what() + "\n");
    } catch (const Error&) {
      // Standard error is closed or full.
    }
  }
}

int run(const RunOptions& options, const std::vector<std::string>& command, const std::string& program) {
  if (command.empty()) throw Error("No program is named; see " + program + " run --help");
  const fs::path folder = choose_folder(options.folder);
  std::map<std::string, std::string> environment = {{"LD_PRELOAD", preload_list(find_shim())},
                                                    {"GPUMEM_DIR", folder.string()}};
  // NVTX's marks and ranges go to one tool: the user's, where there is one.
  if (!std::getenv("NVTX_INJECTION64_PATH")) environment["NVTX_INJECTION64_PATH"] = find_shim().string();
  // Our summary says more than the shim's own line.
  if (options.quiet || !std::getenv("GPUMEM_QUIET")) environment["GPUMEM_QUIET"] = "1";
  try {
    const auto kills_before = group_kills("/");
    FinishedChild child = run_child(command, environment);
    if (const auto kills = group_kills("/"); kills && kills_before && *kills >= *kills_before)
      child.status.group_kills = *kills - *kills_before;
    report_run(options, folder, child, program);
    return end_like(child.status);
  } catch (const StartFailure& failure) {
    say("gpumem: " + command.front() + ": " + std::strerror(failure.error_number) + "\n");
    return failure.error_number == ENOENT ? status_not_found : status_not_executable;
  }
}

// CLI11 knows nothing of the dashes and of what follows them.
class RunFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string name) const override {
    return "Usage: " + name + " [OPTIONS] -- PROGRAM ARGS...\n";
  }
};

}  // namespace

void add_run_command(CLI::App& app, CommandLine& line) {
  auto* command = app.add_subcommand("run", "Run a program under the shim and sum up what it did");
  const auto options = std::make_shared<RunOptions>();
  command->add_option("-o", options->folder, "folder of the journals (sets GPUMEM_DIR)");
  command->add_flag("--quiet", options->quiet, "print nothing, neither a summary nor the shim's own line");
  command->add_flag("--no-symbolize", options->no_symbolize, "do not look up names into .symbols.json");
  add_symbol_limit(*command, options->symbol_seconds);
  command->formatter(std::make_shared<RunFormatter>());
  command->prefix_command();
  command->callback([options, command, &line] {
    std::vector<std::string> words = command->remaining();
    // A program's own options come after its name, so this one was meant for us.
    if (!words.empty() && words.front().starts_with("-")) {
      throw Error(printable(words.front()) + " is no option of run; see " + line.program + " run --help");
    }
    // Without a program before them, the dashes only end our own options; else they belong to the program.
    if (line.has_dashes && !words.empty()) words.emplace_back("--");
    words.insert(words.end(), line.after_dashes.begin(), line.after_dashes.end());
    line.status = run(*options, words, line.program);
  });
}

}  // namespace gpumem
