#include "forensics/gpu_libraries.hpp"

#include <cstring>
#include <string_view>

namespace gpumem {

bool is_gpu_library(const char* path) {
  constexpr std::string_view beginnings[] = {
#define LIBRARY(beginning) beginning,
#define FOLDER(name)
#include "forensics/gpu_libraries.def"
#undef LIBRARY
#undef FOLDER
  };
  constexpr const char* folders[] = {
#define LIBRARY(beginning)
#define FOLDER(name) "/" name "/",
#include "forensics/gpu_libraries.def"
#undef LIBRARY
#undef FOLDER
  };
  const char* slash = std::strrchr(path, '/');
  const std::string_view file(slash != nullptr ? slash + 1 : path);
  for (const std::string_view beginning : beginnings)
    if (file.starts_with(beginning)) return true;
  for (const char* folder : folders)
    if (std::strstr(path, folder) != nullptr) return true;
  return false;
}

}  // namespace gpumem
