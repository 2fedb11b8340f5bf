// Processes that ran at the same time, seen as one job: what they held of each device together, which rank each of them
// was, and what is odd about one of them beside the others.
//
// Devices are the same where their UUID is, whatever their number in each process. Wall clocks are those of the
// processes' hosts: sums are exact on one host, and over several as far as their clocks agree.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyze/analyze.hpp"
#include "analyze/held_over_time.hpp"

namespace gpumem {

struct FleetProcess {
  const ProcessAnalysis* process = nullptr;
  HeldOverTime held;
  std::optional<std::uint64_t> rank;
  bool is_child = false;  // of another process of the same rank, or forked from any of them
  bool ended_badly = false;
  bool end_is_known = true;        // else it may have lived on after its last record
  std::uint64_t began = 0;         // wall clock
  std::uint64_t last_seen = 0;     // likewise: its end, or its last record
  std::uint64_t largest_peak = 0;  // of its devices
};

// What a process held of a device at the moment of the device's peak.
struct FleetShare {
  std::size_t process = 0;  // of Fleet::processes
  DeviceOrdinal device = 0;
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> as_of_ns;  // by its own clock: events around the moment are missing, or none came later
  bool may_have_ended = false;            // it is not known to have lived then
  std::vector<HeldSite> sites;            // largest first; empty where they are not known
};

// A process with a context on a device of which it uses hardly anything, while it works on another.
struct StrayContext {
  std::size_t process = 0;
  DeviceOrdinal device = 0;
  std::uint64_t peak = 0;             // of its memory there
  std::optional<std::int64_t> costs;  // by two samples around its birth
};

struct FleetDevice {
  DeviceRecord identity;
  std::set<std::string> hosts;
  std::map<std::size_t, DeviceOrdinal> users;  // processes, and its number there
  std::uint64_t peak = 0;                      // highest sum of live device memory
  std::uint64_t peak_wall_ns = 0;
  std::vector<FleetShare> shares;  // largest first
  std::vector<StrayContext> strays;
};

struct Straggler {
  std::uint64_t rank = 0;
  std::uint64_t peak = 0;
};

struct Fleet {
  std::vector<FleetProcess> processes;  // by rank, then by their beginning
  std::vector<FleetDevice> devices;     // by host and place
  std::set<std::string> hosts;
  std::string rank_variable;                            // that the ranks are from; empty where there are none
  std::optional<std::uint64_t> world_size;              // as recorded
  std::map<std::uint64_t, std::uint64_t> peak_of_rank;  // the largest of its processes on one device
  std::vector<std::uint64_t> missing_ranks;             // without a journal, below the world's size or the highest rank
  std::uint64_t median_peak = 0;                        // of the ranks
  std::vector<Straggler> stragglers;                    // far above the median; only of three ranks or more
};

struct FleetSource {
  const ProcessAnalysis* process;
  JournalFiles files;
};

// Groups of two or more processes that overlapped in time and used devices, or bear ranks; the newest first. Reads the
// journals again. Throws error as read_held does.
std::vector<Fleet> find_fleets(const std::vector<FleetSource>& all);

// Who went on after a process had ended badly; none where it did not, or is a child.
struct Survivors {
  std::size_t processes = 0;
  std::uint64_t ns = 0;  // the longest of them
};
Survivors survivors_of(const Fleet& fleet, const FleetProcess& process);

}  // namespace gpumem
