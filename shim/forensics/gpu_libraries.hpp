// Which loaded files say something about the process's use of GPUs: the list of gpu_libraries.def.
#pragma once

namespace gpumem {

// By the path that the loader knows. Takes no lock and allocates nothing.
bool is_gpu_library(const char* path);

}  // namespace gpumem
