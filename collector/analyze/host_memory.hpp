// The process's own memory over time, and whether the kernel ended it for want of memory.
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/process_end.hpp"
#include "model/records.hpp"
#include "model/status_file.hpp"

namespace gpumem {

// Why a process that was ended by SIGKILL, or in a way that nobody saw, may have been ended by the kernel.
enum class HostShortage {
  none,
  group_killed,  // proven: the kernel killed in the process's memory group while it ran, and it was ended by SIGKILL
  group_full,    // at its latest record the group had used at least 90 % of its limit
  machine_full,  // at its latest record the machine had less than 1/32 of what the process held, and 512 MiB, available
};

struct HostMemory {
  std::optional<HostRecord> first, highest, latest;  // highest: of `resident`
  HostShortage shortage = HostShortage::none;

  void take(const HostRecord& line);
};

// Looks at how the process ended. `status`: as whoever waited for it saw its end.
HostShortage shortage_at_end(const HostMemory& memory, const ProcessEnd& end, const std::optional<ExitRecord>& status);

}  // namespace gpumem
