// What the driver says is used, beside what the recorded calls explain.
//
//   ledger      = live memory of the device, and what pools and graphs have reserved beyond it
//   unexplained = used - ledger: contexts, loaded code, and the memory of other processes, for the driver's figure is
//                 the device's
//
// The current pool of a device can be one that the program made: its figure is of all blocks of pools without lines of
// their own. A device's sample and those of its pools are lines of one moment: they count with what was live just
// before the next event.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyze/live_table.hpp"
#include "model/records.hpp"

namespace gpumem {

struct DriverMoment {
  std::uint64_t ns = 0;
  std::string why;
  std::uint64_t used = 0;
  std::uint64_t free = 0;
  std::int64_t ledger = 0;

  std::int64_t unexplained() const { return static_cast<std::int64_t>(used) - ledger; }
};

// A rise of the unexplained memory between two samples, the second of which was taken because of what may cost memory.
struct UnexplainedRise {
  std::int64_t bytes = 0;
  std::uint64_t ns = 0;
  std::uint64_t since_ns = 0;
  std::string why;
  bool is_first_launch = false;      // of the process
  std::optional<EventRecord> cause;  // the call that the sample followed; none for launches, which are not recorded
};

struct DeviceFigures {
  std::vector<DriverMoment> moments;  // in the order of the journal
  std::vector<UnexplainedRise> rises;
};

// What the driver keeps for a pool or for graphs, as it said last.
struct Reservation {
  enum class Holder { current_pool, pool, graphs };
  Holder holder = Holder::current_pool;
  std::optional<DeviceOrdinal> device;
  std::uint64_t stack = 0;  // of the call that made the pool
  std::uint64_t ns = 0;
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;

  std::uint64_t parked() const { return reserved > used ? reserved - used : 0; }
};

class DriverFigures {
 public:
  // Before `live` takes it.
  void take(const EventRecord& event, const LiveTable& live);
  void take(const SampleRecord& sample, const LiveTable& live);
  void finish(const LiveTable& live) { settle(live); }

  // What this process holds of the device as far as is known now.
  std::int64_t ledger(DeviceOrdinal device, const LiveTable& live) const;

  const std::map<DeviceOrdinal, DeviceFigures>& devices() const { return devices_; }
  std::vector<Reservation> reservations() const;

 private:
  using PoolKey = std::pair<std::optional<DeviceOrdinal>, std::uint64_t>;  // block number of the pool; 0: current one
  struct LastHeld {
    std::uint64_t ns = 0;
    std::uint64_t stack = 0;
    HeldByDriver amount;
  };

  void settle(const LiveTable& live);
  void settle(const SampleRecord& sample, const LiveTable& live);
  void note_cause(const EventRecord& event);

  bool has_launched_ = false;
  std::map<DeviceOrdinal, SampleRecord> pending_;
  std::map<DeviceOrdinal, DeviceFigures> devices_;
  std::map<PoolKey, LastHeld> pools_;
  std::map<DeviceOrdinal, LastHeld> graphs_;
  std::map<std::pair<std::int64_t, std::string>, EventRecord> causes_;  // by thread and reason of the sample to come
};

}  // namespace gpumem
