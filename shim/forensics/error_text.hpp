// Short texts for what went wrong, without the C library's, which depend on the program's language.
#pragma once

#include <cstddef>

namespace gpumem {

// The name of an error, such as "EAGAIN", or its number; cut to fit.
void error_text(int error, char* text, std::size_t capacity);

// `words` and a number.
void numbered_text(const char* words, int number, char* text, std::size_t capacity);

}  // namespace gpumem
