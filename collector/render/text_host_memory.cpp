// What the reports say of the process's own memory.
#include "render/text_parts.hpp"
#include "render/units.hpp"

namespace gpumem {
namespace {

std::string amounts_text(const HostRecord& line) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (line.group_used && line.group_limit) {
    add("its memory control group had used " + bytes_text(*line.group_used) + " of " + bytes_text(*line.group_limit));
  }
  if (line.resident) add("the process had " + bytes_text(*line.resident) + " resident");
  if (line.pinned && *line.pinned > 0) add(bytes_text(*line.pinned) + " of host memory pinned by CUDA calls");
  if (line.swapped && *line.swapped > 0) add(bytes_text(*line.swapped) + " swapped out");
  if (line.available) add(bytes_text(*line.available) + " to be had on the machine");
  return text + " at " + duration_text(line.ns);
}

}  // namespace

std::string host_memory_text(const ProcessAnalysis& process) {
  const HostMemory& memory = process.host_memory;
  const std::string amounts = memory.latest ? amounts_text(*memory.latest) : "nothing was recorded of it";
  const std::string decides = ". The control group's memory.events (oom_kill) and the kernel log decide";
  switch (memory.shortage) {
    case HostShortage::group_killed:
      return "the kernel killed in the memory control group of this process, for want of memory, while it ran: " +
             amounts;
    case HostShortage::group_full: return "probably killed by the kernel, for its group was full: " + amounts + decides;
    case HostShortage::machine_full:
      return "probably killed by the kernel, for the machine had no memory left: " + amounts + decides;
    case HostShortage::none: break;
  }
  const auto& highest = memory.highest;
  if (!highest || highest->pinned.value_or(0) == 0) return {};
  return "at its highest " + amounts_text(*highest);
}

}  // namespace gpumem
