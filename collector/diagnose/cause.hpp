// THE table of causes of a failed start. Each says for which codes it is thought of, and weighs what speaks for and
// against it in a scene. Adding a cause is adding a row to the list of its theme.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnosis.hpp"
#include "diagnose/scene.hpp"

namespace gpumem {

enum class Weight {
  ruled_out,  // `against` says why
  possible,   // neither
  likely,     // `evidence` points at it
  proven,     // `evidence` leaves nothing else
};

struct Finding {
  Weight weight = Weight::possible;
  std::vector<Evidence> evidence;
  std::vector<Evidence> against;
  std::string verdict;              // where it can be said with this scene's own figures; else the cause's
  std::vector<std::string> advice;  // likewise

  // Nobody would think of it here, so nothing is told.
  static Finding not_thought_of() { return {Weight::ruled_out, {}, {}, "", {}}; }
  static Finding proven_by(std::vector<Evidence> evidence) { return {Weight::proven, std::move(evidence), {}, "", {}}; }
  static Finding ruled_out_by(Evidence evidence) { return {Weight::ruled_out, {}, {std::move(evidence)}, "", {}}; }
};

struct Cause {
  static constexpr std::size_t most_codes = 8;

  std::string_view id;     // stable, for JSON
  std::string_view cause;  // as a clause: "other processes hold the device's memory"
  std::string_view verdict;
  std::string_view advice;
  std::string_view decided_by;                 // the one check that would decide
  std::array<std::int64_t, most_codes> codes;  // in today's numbering; the rest is 0
  Finding (*weigh)(const Scene&);
  bool is_rare = false;  // not told as a candidate unless something points at it

  bool explains(std::int64_t code) const;
};

using Causes = std::span<const Cause>;

// By theme; within a theme, and from theme to theme, the one that decides comes first.
Causes causes_in_process();   // fork, limits, sanitizers
Causes causes_in_memory();    // the device's, the host's
Causes causes_in_modes();     // who may use the device
Causes causes_in_health();    // a device out of order
Causes causes_in_access();    // device files, visible devices
Causes causes_in_driver();    // driver and runtime
Causes causes_in_code();      // what is loaded on the device
Causes causes_in_services();  // MPS, the fabric, suspends

}  // namespace gpumem
