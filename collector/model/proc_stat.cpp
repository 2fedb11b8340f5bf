#include "model/proc_stat.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace gpumem {

std::optional<ProcStat> read_proc_stat(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto name_end = text.rfind(')');  // the command name may itself hold blanks and parentheses
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcStat stat;
  fields >> stat.state;
  constexpr int fields_between_state_and_start = 18;
  std::string skipped;
  for (int i = 0; i < fields_between_state_and_start; ++i) fields >> skipped;
  return fields >> stat.start ? std::optional(stat) : std::nullopt;
}

}  // namespace gpumem
