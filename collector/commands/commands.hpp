// The commands of gpumem. Each lies in its own file and adds itself to the command line.
//
// A command throws error where it cannot answer; main prints that once and ends with 2.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace gpumem {

inline constexpr int status_cannot_answer = 2;

struct CommandLine {
  std::string program;                    // argv[0], as one would type it again
  std::vector<std::string> after_dashes;  // what follows "--": never options of ours
  bool has_dashes = false;
  int status = 0;  // to end with
};

using AddCommand = void (*)(CLI::App& app, CommandLine& line);

void add_bundle_command(CLI::App& app, CommandLine& line);
void add_failures_command(CLI::App& app, CommandLine& line);
void add_help_command(CLI::App& app, CommandLine& line);
void add_leaks_command(CLI::App& app, CommandLine& line);
void add_path_command(CLI::App& app, CommandLine& line);
void add_peak_command(CLI::App& app, CommandLine& line);
void add_doctor_command(CLI::App& app, CommandLine& line);
void add_probe_command(CLI::App& app, CommandLine& line);
void add_report_command(CLI::App& app, CommandLine& line);
void add_top_command(CLI::App& app, CommandLine& line);
void add_mark_command(CLI::App& app, CommandLine& line);
void add_snapshot_command(CLI::App& app, CommandLine& line);
void add_run_command(CLI::App& app, CommandLine& line);
void add_symbolize_command(CLI::App& app, CommandLine& line);

// Nothing where there is no such command.
const CLI::App* find_command(const CLI::App& app, const std::string& name);

// Parses the command line and runs the command; returns the status to end with.
int run_command_line(int argc, char** argv);

}  // namespace gpumem
