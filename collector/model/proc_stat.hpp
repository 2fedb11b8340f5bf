// What /proc says of a process that exists now.
#pragma once

#include <cstdint>
#include <optional>

namespace gpumem {

struct ProcStat {
  char state = '?';         // Z: a zombie, X: dead
  std::uint64_t start = 0;  // clock ticks since boot; with the process id it names a process for good
};

// Nothing where there is no such process, or no /proc.
std::optional<ProcStat> read_proc_stat(std::int64_t pid);

}  // namespace gpumem
