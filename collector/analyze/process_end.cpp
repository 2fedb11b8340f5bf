#include "analyze/process_end.hpp"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace gpumem {
namespace {

bool is_this_host(const std::string& recorded) {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && recorded == name;
}

// Process ids come again; together with the start time they do not.
bool still_runs(const process_record& process) {
  std::ifstream file("/proc/" + std::to_string(process.pid) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto name_end = text.rfind(')');  // the command name may itself hold blanks and parentheses
  if (name_end == std::string::npos) return false;
  std::istringstream fields(text.substr(name_end + 1));
  std::string state;
  fields >> state;
  constexpr int fields_between_state_and_start = 18;
  std::string skipped;
  for (int i = 0; i < fields_between_state_and_start; ++i) fields >> skipped;
  std::uint64_t start = 0;
  return fields >> start && start == process.start && state != "Z" && state != "X";
}

}  // namespace

process_end judge_end(const process_record& process, bool has_end_line, bool replaced_by_exec,
                      const std::optional<exit_record>& status) {
  process_end end;
  end.handlers_ran = has_end_line;
  if (status && !replaced_by_exec) {
    end.exit_status = status->exit_status;
    end.signal = status->signal;
  }
  if (end.signal) {
    end.how = ending::killed;
  } else if (has_end_line) {
    end.how = ending::normal;
  } else if (end.exit_status) {
    end.how = ending::exited;
  } else if (replaced_by_exec) {
    end.how = ending::replaced;
  } else if (!is_this_host(process.host)) {
    end.how = ending::unknown;
  } else {
    end.how = still_runs(process) ? ending::running : ending::vanished;
  }
  return end;
}

}  // namespace gpumem
