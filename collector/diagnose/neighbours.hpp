// The other processes of a folder of journals, as far as a failure of one of them needs them: who they were, when they
// lived, and what they held of each device.
//
// They are read only when somebody asks, once each, and kept small.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyze/process_end.hpp"
#include "analyze/runtimes.hpp"
#include "model/records.hpp"

namespace gpumem {

// Bytes over time, thinned out: what it tells of a moment is at most one step old.
class BytesOverTime {
 public:
  void note(std::uint64_t ns, std::uint64_t bytes);
  std::uint64_t at(std::uint64_t ns) const;

 private:
  static constexpr std::size_t most = 4096;
  std::uint64_t step_ = 1'000'000;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> values_;  // by time
};

struct NeighbourDevice {
  DeviceRecord identity;
  BytesOverTime bytes;
  bool has_context = false;
};

struct Neighbour {
  std::filesystem::path journal;
  ProcessRecord process;
  Modules all_modules;
  PythonPlaces python_places;
  ProcessEnd end;
  std::uint64_t last_ns = 0;
  std::vector<NeighbourDevice> devices;
  std::optional<EventRecord> init;          // its cuInit
  std::vector<Frame> init_frames;           // innermost first
  std::optional<std::uint64_t> context_ns;  // when its newest context was born
  std::set<std::int64_t> failed_with;       // codes of its failed calls
  std::vector<EventRecord> in_flight;       // entered and not returned

  // Whether it was there at that moment of the wall clock, as far as its journal and this machine tell.
  bool lived_at(std::uint64_t wall_ns) const;
  // What it held of the device then; nothing where it is not known to have used it.
  std::optional<std::uint64_t> bytes_at(std::uint64_t wall_ns, const std::string& uuid) const;
};

class Neighbourhood {
 public:
  Neighbourhood() = default;
  // Of the folder that PATH is, or lies in.
  explicit Neighbourhood(const std::filesystem::path& path);

  // All that can be read; what cannot is left out.
  const std::vector<Neighbour>& all();

  // Of one machine. `start` 0: any process of that number, the latest that had begun by then.
  const Neighbour* find(const std::string& host, std::int64_t pid, std::uint64_t start, std::uint64_t wall_ns);
  const Neighbour* find_journal(const std::string& file_name);
  // Processes that were forked from that one.
  std::vector<const Neighbour*> children_of(const Neighbour& parent);

 private:
  std::filesystem::path folder_;  // empty once it is read
  std::vector<Neighbour> all_;
};

}  // namespace gpumem
