// Files of the kernel, and what can be told of any file without an error.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace gpumem {

bool is_there(const std::filesystem::path& path);  // false also where that cannot be seen

struct FileText {
  std::optional<std::string> text;
  const char* reason = nullptr;  // name of the error, such as ENOENT, where there is no text

  nlohmann::ordered_json first_line() const;  // null where there is no text
};

FileText read_file(const std::filesystem::path& path);

// A number; the words where the file holds none, such as "max"; null where it cannot be read.
nlohmann::ordered_json number_in(const std::filesystem::path& path);

}  // namespace gpumem
