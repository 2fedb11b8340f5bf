// Runs a program as if it had been started without us.
//
// The child stays in our process group, so the terminal is its own and Ctrl-C reaches it once; signals that somebody
// sends to us alone are passed on; when job control stops it, we stop as well. Its standard streams, signal mask and
// dispositions are what ours were.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/status_file.hpp"

namespace gpumem {

struct FinishedChild {
  ExitRecord status;
  std::uint64_t start = 0;  // clock ticks since boot, as in the names of journals
};

struct StartFailure {
  int error_number = 0;
};

// Waits until the program has ended. Throws start_failure where it could not be started, error where nothing could.
FinishedChild run_child(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment);

// Ends this process by the signal that ended the child (without a core file), or returns its exit status.
int end_like(const ExitRecord& status);

}  // namespace gpumem
