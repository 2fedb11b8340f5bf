// What a code object says of itself: its names and its line table, as raw bytes of the interpreter's objects.
#pragma once

#include <cstdint>
#include <string_view>

#include "stack/python/interpreter.hpp"

namespace gpumem {

// The fields that decide where its code stands. Compared, they tell two code objects at one address apart, nearly.
struct CodeHead {
  std::uintptr_t file, name, lines;
  std::int64_t size;
  std::int32_t first_line;
  std::uint32_t version;
  bool operator==(const CodeHead&) const = default;
};

// A str object: characters of 1, 2 or 4 bytes.
struct PythonText {
  std::string_view bytes;
  unsigned width = 0;  // 0: it is no such object
};

struct CodeContents {
  std::string_view lines;
  PythonText file, name;
};

// Of a code object that runs, so that what belongs to it stays where it is.
CodeHead head_of(const PythonLayout& layout, std::uintptr_t code);
CodeContents contents_of(const PythonLayout& layout, const CodeHead& head);

// The same of one that has not been looked into before. nullptr, or the reason why it is not what was expected.
// Survives pointers to nowhere; changes errno.
const char* examine_code(const Interpreter& interpreter, std::uintptr_t code, CodeHead& head, CodeContents& contents);

// As UTF-8, as much as fits without cutting a character. Half a surrogate pair, which stands for a byte that could not
// be decoded, becomes three bytes that are no valid UTF-8.
std::size_t to_utf8(const PythonText& text, char* out, std::size_t capacity);

}  // namespace gpumem
