// What a PATH or PID on the command line means.
#pragma once

#include <string>

namespace gpumem {

inline constexpr const char* path_help =
    "a journal (gpumem-*.jsonl), a folder of journals, or the id of a process that runs";

// The path itself; of the id of a process, the newest journal of that process. Throws error.
std::string named_path(const std::string& path_or_pid);

// The folder where journals of programs started here go, for commands that need no PATH. Throws error.
std::string usual_folder();

}  // namespace gpumem
