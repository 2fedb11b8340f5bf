// Which of CUDA's libraries lie where the loader looks.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace gpumem {

// Every libcuda.so.1 and libcudart.so.N: first in the folders of the search path, in its order, then in the usual
// ones below `root`, which is "/" but in tests. The loader's cache is not read.
nlohmann::ordered_json cuda_libraries(const std::filesystem::path& root, const std::string& search_path);

}  // namespace gpumem
