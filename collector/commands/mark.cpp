#include <chrono>
#include <memory>

#include "analyze/process_end.hpp"
#include "commands/commands.hpp"
#include "commands/named_journals.hpp"
#include "commands/output.hpp"
#include "model/error.hpp"
#include "model/journal_reader.hpp"
#include "model/journal_set.hpp"
#include "model/marks_file.hpp"
#include "render/units.hpp"

namespace gpumem {
namespace {

struct Options {
  std::string path;
  std::string text;
};

std::uint64_t now_on_clock_of(const ProcessRecord& process) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto wall_ns = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  return wall_ns > process.wall_ns ? wall_ns - process.wall_ns : 0;
}

// Of a folder, those of its processes that run.
void set_mark(const Options& options, const CommandLine& line) {
  constexpr std::size_t longest_text = 4096;
  if (options.text.size() > longest_text) throw Error("The text of a mark has at most 4096 bytes.");
  const std::string path = named_path(options.path);
  const auto journals = find_journals(path);
  std::size_t marked = 0;
  for (const auto& files : journals) {
    const auto process = read_process_line(files);
    if (!process) continue;
    const auto end = judge_end(*process, false, files.replaced_by_exec, read_status_file(files.status_file()));
    if (journals.size() > 1 && end.how != Ending::running) continue;
    append_mark(files.marks_file(), {now_on_clock_of(*process), options.text});
    ++marked;
  }
  if (marked == 0) throw Error("No process of " + path + " runs; name the journal of one that has ended to mark it.");
  write_out(1,
            count_of(marked, "process") + " marked. Next: " + line.program + " report " + command_text({path}) + "\n");
}

}  // namespace

void add_mark_command(CLI::App& app, CommandLine& line) {
  auto* command = app.add_subcommand("mark", "Set a mark now, which reports show among what happened");
  const auto options = std::make_shared<Options>();
  command->add_option("PATH", options->path, path_help)->required();
  command->add_option("TEXT", options->text, "what it says")->required();
  command->callback([options, &line] { set_mark(*options, line); });
}

}  // namespace gpumem
