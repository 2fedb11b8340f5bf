// The journals that a run has left behind: found, given their sidecars, and summed up.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands/child_process.hpp"
#include "model/journal_set.hpp"

namespace gpumem {

// Folders in which the processes of a run write, most likely first: `chosen`, and where the shim goes without it.
std::vector<std::filesystem::path> journal_folders(const std::filesystem::path& chosen);

// Journals of the child and of all its descendants. Never throws.
std::vector<JournalFiles> journals_of_run(const std::vector<std::filesystem::path>& folders,
                                          const FinishedChild& child);

// Writes how the child ended beside its latest journal. Throws error.
void write_status(const std::vector<JournalFiles>& journals, const FinishedChild& child);

// "./train --big ended with status 3 after 1.2 s"
std::string child_end_text(const FinishedChild& child);

// How the child ended, and a few lines about each process. `program` is gpumem as the user typed it. Throws error.
std::string summary_of_run(const std::vector<JournalFiles>& journals, const FinishedChild& child,
                           const std::string& program);

}  // namespace gpumem
