#include "analyze/process_end.hpp"

#include <unistd.h>

#include <chrono>

#include "model/proc_stat.hpp"

namespace gpumem {
namespace {

bool is_this_host(const std::string& recorded) {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && recorded == name;
}

bool still_runs(const ProcessRecord& process) {
  const auto stat = read_proc_stat(process.pid);
  return stat && stat->start == process.start && stat->state != 'Z' && stat->state != 'X';
}

std::uint64_t wall_clock_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

ProcessEnd judge_end(const ProcessRecord& process, bool has_end_line, bool replaced_by_exec,
                     const std::optional<ExitRecord>& status) {
  ProcessEnd end;
  end.handlers_ran = has_end_line;
  if (status && !replaced_by_exec) {
    end.exit_status = status->exit_status;
    end.signal = status->signal;
    if (status->ended_ns > process.wall_ns) end.ns = status->ended_ns - process.wall_ns;
  }
  if (end.signal) {
    end.how = Ending::killed;
  } else if (has_end_line) {
    end.how = Ending::normal;
  } else if (end.exit_status) {
    end.how = Ending::exited;
  } else if (replaced_by_exec) {
    end.how = Ending::replaced;
  } else if (!is_this_host(process.host)) {
    end.how = Ending::unknown;
  } else {
    end.how = still_runs(process) ? Ending::running : Ending::vanished;
    if (end.how == Ending::running && wall_clock_ns() > process.wall_ns) end.now_ns = wall_clock_ns() - process.wall_ns;
  }
  return end;
}

}  // namespace gpumem
