// Where the commands' answers go.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpumem {

struct OutputStyle {
  std::size_t width = 100;  // of the terminal; this where there is none
  bool colour = false;
};

// Of standard output (1) or standard error (2).
OutputStyle style_of(int descriptor);

// Writes everything. A reader that has gone away (`| head`) is no error; a full disk is, and throws error.
void write_out(int descriptor, std::string_view text);

}  // namespace gpumem
