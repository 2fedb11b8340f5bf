#include "journal/line.hpp"

namespace gpumem {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";

// Length of the well-formed UTF-8 sequence at the start of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!follows(1) || !follows(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;
    if (first == 0xed && byte(1) > 0x9f) return 0;  // surrogates
    return 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (first == 0xf0 && byte(1) < 0x90) return 0;
    if (first == 0xf4 && byte(1) > 0x8f) return 0;
    return 4;
  }
  return 0;
}

}  // namespace

bool Line::quoted(std::string_view value) {
  bool valid = true;
  put("\"");
  while (!value.empty()) {
    const std::size_t length = utf8_length(value);
    const unsigned char first = static_cast<unsigned char>(value[0]);
    if (length == 0) {
      put("\xef\xbf\xbd");
      valid = false;
    } else if (first == '"' || first == '\\') {
      const char escaped[2] = {'\\', value[0]};
      put({escaped, 2});
    } else if (first < 0x20 || first == 0x7f) {
      const char escaped[6] = {'\\', 'u', '0', '0', hex_digits[first >> 4], hex_digits[first & 15]};
      put({escaped, 6});
    } else {
      put({value.data(), length});
    }
    value.remove_prefix(length == 0 ? 1 : length);
  }
  put("\"");
  return valid;
}

void Line::hex_bytes(const void* bytes, std::size_t count) {
  put("\"");
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned char byte = static_cast<const unsigned char*>(bytes)[i];
    const char digits[2] = {hex_digits[byte >> 4], hex_digits[byte & 15]};
    put({digits, 2});
  }
  put("\"");
}

void Line::text(std::string_view name, std::string_view value) {
  key(name);
  if (quoted(value)) return;
  put(",\"");
  put(name);
  put("_raw_hex\":");
  hex_bytes(value.data(), value.size());
}

bool Line::text_with_room(std::string_view name, std::string_view value, std::size_t room) {
  const Line before = *this;
  text(name, value);
  if (fits() && room <= static_cast<std::size_t>(end_ - next_)) return true;
  *this = before;
  return false;
}

}  // namespace gpumem
