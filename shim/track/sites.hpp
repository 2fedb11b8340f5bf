// What each call site holds and has held: a site is a stack that allocates memory of one kind on one device.
//
// Thread-safe; look-ups take no lock. Counters of one site are read one after another while other threads go on.
// When the memory of tables is used up, new sites are not counted.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/intern_table.hpp"
#include "base/spin_lock.hpp"
#include "track/memory_kind.hpp"
#include "track/totals.hpp"

namespace gpumem {

struct Site {
  std::uint64_t hash = 0;
  std::uint32_t number = 0;
  std::uint32_t stack = 0;
  std::int16_t device = no_device;
  MemoryKind kind = MemoryKind::device;

  std::atomic<std::uint64_t> live, blocks;       // bytes (of objects: 1 each) and blocks now
  std::atomic<std::uint64_t> allocated, allocs;  // ever
  std::atomic<std::uint64_t> first_ns, last_ns;  // allocation
  std::atomic<std::uint64_t> at_peak, blocks_at_peak;
};

class Sites {
 public:
  // The site, made if need be; nullptr where there is no memory left.
  Site* site_of(std::uint32_t stack, MemoryKind kind, int device);

  // nullptr where there is none of that number.
  const Site* at(std::uint32_t number) { return table_.at(number); }
  std::uint32_t count() const { return table_.count(); }

  // Nothing where the site is nullptr, or none has that number.
  static void allocated(Site* site, std::uint64_t amount, std::uint64_t ns);
  void ended(std::uint32_t number, std::uint64_t amount);
  void came_back(std::uint32_t number, std::uint64_t amount);

  // When the memory of a device (no_device: of the host) was all but highest, as its sites' `at_peak` tell.
  struct Snapshot {
    std::uint64_t ns = 0, bytes = 0;
  };
  Snapshot snapshot(int device) const;

  // Takes the snapshot anew if the device's sum `live` is 1 % above the last one.
  void note_sum(int device, std::uint64_t live, std::uint64_t ns) {
    if (live > due_[slot(device)].load(std::memory_order_relaxed)) take_snapshot(device, ns);
  }

 private:
  static constexpr std::size_t slot(int device) {
    return static_cast<std::size_t>(device < 0                         ? 0
                                    : device + 1 < Totals::max_devices ? device + 1
                                                                       : Totals::max_devices - 1);
  }
  void take_snapshot(int device, std::uint64_t ns);

  InternTable<Site> table_;
  SpinLock taking_;
  std::array<std::atomic<std::uint64_t>, Totals::max_devices> due_{};
  std::array<std::atomic<std::uint64_t>, Totals::max_devices> taken_ns_{}, taken_bytes_{};
};

}  // namespace gpumem
