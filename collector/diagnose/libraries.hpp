// How the libraries of a process whose start failed differ from those of one, of the same folder of journals and the
// same machine, where the same thing worked: two builds of a library, or two runtimes, in one image.
#pragma once

#include <vector>

#include "diagnose/scene.hpp"

namespace gpumem {

// Clauses. Empty where there is no such other process.
//
// A file of one name that both had is told where its path or its build differs. That only one of them had a file is
// told of those that have to do with GPUs, because only these are in a journal although no stack leads into them.
std::vector<Evidence> compare_libraries(const Scene& scene);

}  // namespace gpumem
