// A peak by the library that called CUDA.
#pragma once

#include <string>
#include <vector>

#include "analyze/analyze.hpp"
#include "render/call_names.hpp"

namespace gpumem {

struct LibraryShare {
  std::string library;
  Usage amount;
};

// Largest first.
std::vector<LibraryShare> shares_by_library(const PeakBreakdown& peak, CallNames& names);

}  // namespace gpumem
