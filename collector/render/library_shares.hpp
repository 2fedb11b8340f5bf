// A peak by the library that called CUDA.
#pragma once

#include <string>
#include <vector>

#include "analyze/analyze.hpp"
#include "render/call_names.hpp"

namespace gpumem {

struct library_share {
  std::string library;
  usage amount;
};

// Largest first.
std::vector<library_share> shares_by_library(const peak_breakdown& peak, call_names& names);

}  // namespace gpumem
