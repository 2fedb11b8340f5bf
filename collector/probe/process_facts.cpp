#include "probe/process_facts.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "model/proc_stat.hpp"
#include "probe/files.hpp"

namespace gpumem {
namespace {

using nlohmann::ordered_json;

ordered_json words_of(const std::string& text) {
  auto words = ordered_json::array();
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\0', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

double age_of(const ProcStat& stat) {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) -
         static_cast<double>(stat.start) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

bool commands_are_kept_back() {
  const char* redact = std::getenv("GPUMEM_REDACT");
  return redact && std::string(redact) == "1";
}

}  // namespace

ordered_json process_facts(std::int64_t pid, const std::filesystem::path& proc) {
  const auto folder = proc / std::to_string(pid);
  const auto name = read_file(folder / "comm");
  const auto command =
      commands_are_kept_back() ? FileText{std::nullopt, "GPUMEM_REDACT"} : read_file(folder / "cmdline");
  const auto stat = read_proc_stat(pid, proc);
  const char* reason = name.text ? command.reason : name.reason;
  ordered_json facts = {{"pid", pid}};
  facts["ppid"] = stat ? ordered_json(stat->parent) : ordered_json();
  facts["name"] = name.first_line();
  facts["command"] = command.text ? words_of(*command.text) : ordered_json();
  facts["start_ticks"] = stat ? ordered_json(stat->start) : ordered_json();
  facts["age_s"] = stat ? ordered_json(age_of(*stat)) : ordered_json();
  facts["state"] = stat ? ordered_json(std::string(1, stat->state)) : ordered_json();
  facts["reason"] = reason ? ordered_json(reason) : ordered_json();
  return facts;
}

}  // namespace gpumem
