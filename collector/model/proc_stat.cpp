#include "model/proc_stat.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace gpumem {
namespace {

void skip(std::istream& fields, int count) {
  std::string skipped;
  for (int i = 0; i < count; ++i) fields >> skipped;
}

}  // namespace

std::optional<ProcStat> read_proc_stat(std::int64_t pid, const std::filesystem::path& proc) {
  std::ifstream file(proc / std::to_string(pid) / "stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto name_end = text.rfind(')');  // the command name may itself hold blanks and parentheses
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcStat stat;
  fields >> stat.state >> stat.parent;
  constexpr int fields_between_parent_and_flags = 4, fields_between_flags_and_start = 12;
  constexpr std::uint64_t kernel_thread = 0x200000;  // the kernel's PF_KTHREAD
  std::uint64_t flags = 0;
  skip(fields, fields_between_parent_and_flags);
  fields >> flags;
  stat.is_kernel_thread = (flags & kernel_thread) != 0;
  skip(fields, fields_between_flags_and_start);
  return fields >> stat.start ? std::optional(stat) : std::nullopt;
}

}  // namespace gpumem
