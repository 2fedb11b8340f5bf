// From an instruction to its line, by the tables of CPython's three formats.
#pragma once

#include <cstdint>
#include <string_view>

#include "stack/python/layouts.hpp"

namespace gpumem {

inline constexpr int no_line = -1;  // as Python has it for code that stands nowhere

// `offset` in bytes; -1: before the first instruction. Any table gives an answer.
int line_at(LineTableKind kind, std::string_view table, int first_line, std::int32_t offset);

}  // namespace gpumem
