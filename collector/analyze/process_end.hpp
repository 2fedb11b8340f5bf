// How a process ended, as far as its journal, its status sidecar and this machine can tell.
#pragma once

#include <optional>

#include "model/records.hpp"
#include "model/status_file.hpp"

namespace gpumem {

enum class Ending {
  normal,    // reached its end: exit handlers ran, whatever its status
  exited,    // ended by itself without running its exit handlers
  killed,    // by a signal
  replaced,  // called exec: the same process goes on in its next journal
  running,   // still runs on this machine
  vanished,  // on this machine, and not running any more: killed, crashed or called _exit
  unknown,   // another machine's process without any end
};

struct ProcessEnd {
  Ending how = Ending::unknown;
  std::optional<int> exit_status;
  std::optional<int> signal;
  std::optional<std::uint64_t> ns;      // when it ended, on the clock of the journal
  std::optional<std::uint64_t> now_ns;  // of a running process: now, on the clock of the journal
  bool handlers_ran = false;            // the journal has its end line
  bool cut = false;                     // the journal is cut off before its end line
};

ProcessEnd judge_end(const ProcessRecord& process, bool has_end_line, bool replaced_by_exec,
                     const std::optional<ExitRecord>& status);

}  // namespace gpumem
