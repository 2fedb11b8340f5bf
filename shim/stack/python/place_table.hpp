// Places in Python code, each once, with a number for the journal.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/intern_table.hpp"

namespace gpumem {

struct CodePlace {
  std::uint64_t hash = 0;
  std::uint32_t number = 0;
  int line = 0;  // no_line: has none
  std::uint32_t file_size = 0, name_size = 0;
  std::atomic<std::uint32_t> written_in{0};  // for the journal's use: the latest segment that it is in, 0: none
  char text[1];                              // the file's name and the function's

  std::string_view file() const { return {text, file_size}; }
  std::string_view name() const { return {text + file_size, name_size}; }
};

class PlaceTable {
 public:
  // nullptr if there is no memory left. Entries live as long as the table.
  CodePlace* intern(std::string_view file, std::string_view name, int line);

 private:
  InternTable<CodePlace> table_;
};

}  // namespace gpumem
