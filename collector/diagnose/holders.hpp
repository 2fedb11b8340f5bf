// Who holds a device's memory, by all that is known: NVML's list, open device files, journals of the same folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/scene.hpp"

namespace gpumem {

struct Holder {
  std::int64_t pid = 0;
  std::optional<std::uint64_t> bytes;  // of the device
  std::string who;                     // "process 4242 (`python serve.py`, for 40 min)"
  bool is_self = false;
  bool is_parent = false;
  bool is_graphics_only = false;  // a desktop's, as it were
  bool is_mps = false;            // MPS's server, which holds its clients' memory
  const Neighbour* journal = nullptr;

  // "process 4242 (…) holds 15.1 GiB"
  std::string text() const;
};

// Largest first. Evidence for each is from the probe.
std::vector<Holder> holders_of(const Scene& scene, const Gpu& gpu);

// One clause for each of the largest, and one for how many more there are.
std::vector<Evidence> tell_holders(const Scene& scene, const Gpu& gpu, const std::vector<Holder>& holders);

// What is used although nobody is listed for it; 0 where the lists explain it within what drivers keep for themselves.
std::uint64_t unlisted_bytes(const Gpu& gpu);

// Why NVML's list cannot name everybody, as clauses: another pid namespace, no /proc, no permission.
std::vector<Evidence> blind_spots(const Scene& scene, const Gpu& gpu);

// Processes that may hold what nobody is listed for: forked children that outlived a killed process, owners of open
// device files.
std::vector<Evidence> unlisted_suspects(const Scene& scene, const Gpu& gpu);

// "40 minutes"
std::string age_text(std::uint64_t seconds);

// "`python serve.py`", shortened
std::string command_words(const std::vector<std::string>& words);

}  // namespace gpumem
