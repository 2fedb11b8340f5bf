// Everything that can be said of a machine's GPUs from outside a process that uses them. docs/PROBE.md describes it.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>

namespace gpumem {

// Takes hardly longer than the deadline, whatever hangs. Throws Error where nothing could be asked.
nlohmann::ordered_json probe(std::chrono::milliseconds deadline);

}  // namespace gpumem
