// The commands of gpumem. Each lies in its own file and adds itself to the command line.
//
// A command sets the status that the program ends with (0 unless it says otherwise) and throws error where it cannot
// answer; main prints that once and ends with 2.
#pragma once

#include <CLI/CLI.hpp>

namespace gpumem {

inline constexpr int status_cannot_answer = 2;

using add_command = void (*)(CLI::App& app, int& status);

void add_failures_command(CLI::App& app, int& status);
void add_help_command(CLI::App& app, int& status);
void add_leaks_command(CLI::App& app, int& status);
void add_path_command(CLI::App& app, int& status);
void add_peak_command(CLI::App& app, int& status);
void add_report_command(CLI::App& app, int& status);
void add_run_command(CLI::App& app, int& status);

// Parses the command line and runs the command; returns the status to end with.
int run_command_line(int argc, char** argv);

}  // namespace gpumem
