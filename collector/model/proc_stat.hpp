// What /proc says of a process that exists now.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace gpumem {

struct ProcStat {
  char state = '?';         // Z: a zombie, X: dead
  std::int64_t parent = 0;  // 0: nobody that is seen from here
  bool is_kernel_thread = false;
  std::uint64_t start = 0;  // clock ticks since boot; with the process id it names a process for good
};

// Nothing where there is no such process, or no /proc, which has another name in tests.
std::optional<ProcStat> read_proc_stat(std::int64_t pid, const std::filesystem::path& proc = "/proc");

}  // namespace gpumem
