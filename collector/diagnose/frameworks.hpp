// The frameworks that a process has loaded, and what each of them offers against running out of memory.
//
// Only settings of frameworks that are loaded, and that are not in force already.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyze/runtimes.hpp"

namespace gpumem {

using Variables = std::map<std::string, std::string>;

std::vector<std::string> frameworks_in(const Modules& all);  // "PyTorch"

// When a setting is worth naming.
enum class MemoryTrouble {
  device_full,  // the request does not fit
  fragmented,   // it would fit, were the free memory in one piece
};

// For the process that failed.
std::vector<std::string> advice_for_process(const Modules& all, const Variables& env, MemoryTrouble trouble);

// For the process that holds the memory which another one lacks.
std::vector<std::string> advice_for_holder(const Modules& all, const Variables& env);

}  // namespace gpumem
