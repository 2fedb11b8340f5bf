// Who uses the driver's device files, which NVML need not know: processes of other containers, ones that are ending,
// and the forked children of a process that is gone.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "probe/section.hpp"

namespace gpumem {

// One look at every process that is seen from here.
struct ProcessScan {
  std::map<std::int64_t, std::set<std::string>> holders;   // with the paths of the device files that they have open
  std::vector<std::int64_t> others;                        // that have none open, and may still have one mapped
  std::map<std::string, std::vector<std::int64_t>> named;  // as in /proc/PID/comm: at most 15 characters
  std::int64_t unreadable = 0;                             // processes whose open files may not be looked at
};

// `proc` is "/proc" but in tests. Reads nothing that waits for another process.
ProcessScan scan_processes(const std::filesystem::path& proc);

// Adds "holders", "holders_left_out", "holders_unreadable" and "mappings_unread".
void tell_holders(Findings& findings, const ProcessScan& scan, const std::filesystem::path& proc);

}  // namespace gpumem
