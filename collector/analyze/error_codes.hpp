// What the numbers that CUDA returns mean.
//
// Driver and runtime share one numbering today; runtimes before 10.1 had their own, which still turns up in old
// frameworks. The raw number is always kept and shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/records.hpp"

namespace gpumem {

struct CodeMeaning {
  std::int64_t code;
  std::string_view driver_name;
  std::string_view meaning;  // a clause without full stop
};

// Nothing for a number that the table does not hold.
const CodeMeaning* find_code(std::int64_t code);

// What a runtime before 10.1 meant by the number, where that differs: the number of today; else nothing.
std::optional<std::int64_t> modern_code_of_old_runtime(std::int64_t code);

// The code of an unloaded driver: frees during exit that return it are harmless.
inline constexpr std::int64_t code_shutting_down = 4;

// By what the driver function returned, else by what the call did.
bool returned_out_of_memory(const FailureRecord& failure);

}  // namespace gpumem
