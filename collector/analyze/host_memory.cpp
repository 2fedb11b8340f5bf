#include "analyze/host_memory.hpp"

#include <csignal>

namespace gpumem {
namespace {

bool may_have_been_killed(const ProcessEnd& end) {
  if (end.handlers_ran || end.exit_status) return false;
  return end.signal ? *end.signal == SIGKILL : end.how == Ending::vanished || end.how == Ending::unknown;
}

bool group_is_full(const HostRecord& line) {
  return line.group_used && line.group_limit && *line.group_used >= *line.group_limit / 10 * 9;
}

bool machine_is_full(const HostRecord& line) {
  constexpr std::uint64_t little = std::uint64_t{512} << 20, part = 32;
  return line.available && *line.available < little && line.resident && *line.available < *line.resident / part;
}

}  // namespace

void HostMemory::take(const HostRecord& line) {
  if (!first) first = line;
  if (!highest || line.resident.value_or(0) > highest->resident.value_or(0)) highest = line;
  latest = line;
}

HostShortage shortage_at_end(const HostMemory& memory, const ProcessEnd& end, const std::optional<ExitRecord>& status) {
  if (!may_have_been_killed(end)) return HostShortage::none;
  if (end.signal && status && status->group_kills.value_or(0) > 0) return HostShortage::group_killed;
  if (!memory.latest) return HostShortage::none;
  if (group_is_full(*memory.latest)) return HostShortage::group_full;
  return machine_is_full(*memory.latest) ? HostShortage::machine_full : HostShortage::none;
}

}  // namespace gpumem
