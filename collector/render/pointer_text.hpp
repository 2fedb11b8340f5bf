// What a pointer or handle is that a program tried to give back.
#pragma once

#include <string>

#include "render/text_reports.hpp"

namespace gpumem {

std::string address_text(std::uint64_t address);  // 0x7f00

// "0x7e00 is a live block of pinned host memory from staging (io.cpp:9), and stays live"
std::string pointer_text(const ProcessView& view, const CallRecord& call, const PointerHistory& history);

}  // namespace gpumem
