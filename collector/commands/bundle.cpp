#include <cstdio>
#include <memory>
#include <sstream>

#include "commands/commands.hpp"
#include "commands/named_journals.hpp"
#include "commands/output.hpp"
#include "commands/redaction.hpp"
#include "commands/symbol_job.hpp"
#include "commands/tar_file.hpp"
#include "model/error.hpp"
#include "model/journal_reader.hpp"
#include "model/journal_set.hpp"
#include "model/line_splitter.hpp"
#include "model/sidecar.hpp"
#include "render/units.hpp"

namespace gpumem {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_sidecar = 1u << 30;
constexpr const char* folder_in_bundle = "gpumem-bundle/";

struct Options {
  std::string path;
  std::string file = "gpumem-bundle.tar.gz";
  double limit_seconds = default_symbol_seconds;
};

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using TemporaryFile = std::unique_ptr<std::FILE, Closer>;

Redaction redaction_for(const std::vector<JournalFiles>& journals) {
  Redaction redaction;
  for (const auto& files : journals) {
    if (const auto process = read_process_line(files)) redaction.add_host(process->host);
    for (const auto& segment : files.segments) {
      LineSplitter lines(segment);
      while (const auto line = lines.next()) redaction.add_users_of(*line);
    }
  }
  return redaction;
}

// With as many torn lines as the original, and cut where it is cut: the report counts them.
TemporaryFile redacted_segment(const fs::path& path, const Redaction& redaction) {
  TemporaryFile copy(std::tmpfile());
  if (!copy) throw Error("No temporary file can be made for the bundle.");
  std::uint64_t torn = 0;
  const auto put = [&](const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), copy.get()) != text.size()) {
      throw Error("The temporary folder is full.");
    }
  };
  LineSplitter lines(path);
  for (;;) {
    const auto line = lines.next();
    for (; torn < lines.torn_lines(); ++torn) put(std::string("torn\0\n", 6));
    if (!line) break;
    put(redaction.line(*line) + "\n");
  }
  if (lines.is_cut()) put("cut");
  return copy;
}

// Line by line, for the marks are no single object.
void add_marks(TarFile& bundle, const fs::path& path, const Redaction& redaction) {
  const auto text = read_sidecar(path, largest_sidecar);
  if (!text) return;
  std::string redacted;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) redacted += redaction.line(line) + "\n";
  bundle.add(folder_in_bundle + redaction.name(path.filename().string()), redacted);
}

void add_sidecar(TarFile& bundle, const fs::path& path, const Redaction& redaction) {
  if (const auto text = read_sidecar(path, largest_sidecar)) {
    bundle.add(folder_in_bundle + redaction.name(path.filename().string()), redaction.sidecar(*text));
  }
}

// Names that nobody has looked up yet can be had only here.
std::string add_missing_names(const std::vector<JournalFiles>& journals, double limit_seconds) {
  std::vector<JournalFiles> nameless;
  for (const auto& files : journals) {
    if (!fs::exists(files.symbols_file())) nameless.push_back(files);
  }
  try {
    symbolize(nameless, limit_seconds);
  } catch (const Error& trouble) {
    return std::string("Without all names: ") + trouble.what() + "\n";
  }
  return "";
}

void pack(const Options& options, const CommandLine& line) {
  const auto journals = find_journals(named_path(options.path));
  TarFile bundle(options.file);
  const std::string trouble = add_missing_names(journals, options.limit_seconds);
  const Redaction redaction = redaction_for(journals);
  for (const auto& files : journals) {
    for (const auto& segment : files.segments) {
      const auto copy = redacted_segment(segment, redaction);
      bundle.add(folder_in_bundle + redaction.name(segment.filename().string()), copy.get());
    }
    add_sidecar(bundle, files.status_file(), redaction);
    add_sidecar(bundle, files.symbols_file(), redaction);
    add_marks(bundle, files.marks_file(), redaction);
  }
  bundle.finish();
  write_out(1, trouble + options.file + " holds " + count_of(journals.size(), "journal") +
                   ", without arguments, working directories, host names and user names. Names of programs, files and "
                   "functions are in it: look through it before you send it.\nIts reader unpacks it, then: " +
                   line.program + " report " + std::string(folder_in_bundle, 13) + "\n");
}

}  // namespace

void add_bundle_command(CLI::App& app, CommandLine& line) {
  auto* command = app.add_subcommand(
      "bundle", "Pack journals, names and ends into one file for a bug report, without what says whose they are");
  const auto options = std::make_shared<Options>();
  command->add_option("PATH", options->path, path_help)->required();
  command->add_option("-o", options->file, "the file to make")->capture_default_str();
  add_symbol_limit(*command, options->limit_seconds);
  command->callback([options, &line] { pack(*options, line); });
}

}  // namespace gpumem
