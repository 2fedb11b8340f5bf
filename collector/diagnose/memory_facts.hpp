// A device's memory when a request for it failed: what was free, who held the rest, and what could be given back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diagnose/holders.hpp"
#include "diagnose/scene.hpp"

namespace gpumem {

class MemoryFacts {
 public:
  explicit MemoryFacts(const Scene& scene);

  // By the driver just after; else by the probe, if it was taken for this failure.
  std::optional<std::uint64_t> free() const;
  std::uint64_t total() const;  // 0: unknown

  // Used, and no allocation of this process: contexts and code, and other processes.
  std::uint64_t rest() const { return rest_; }
  const std::vector<Holder>& others() const { return others_; }  // processes that NVML lists
  // What the device's pool keeps for later requests; 0 for a request that could have had it.
  std::uint64_t parked() const;

  // All of it, as far as it is worth telling.
  std::vector<Evidence> tell() const;

 private:
  void tell_unnamed_rest(std::vector<Evidence>& told) const;
  void tell_own_overhead(std::vector<Evidence>& told) const;
  void tell_dominant_block(std::vector<Evidence>& told) const;

  const Scene& scene_;
  std::uint64_t rest_ = 0;
  std::vector<Holder> others_;
  std::optional<Holder> self_;
};

}  // namespace gpumem
