#include "stack/python/line_tables.hpp"

namespace gpumem {
namespace {

std::uint8_t byte(std::string_view table, std::size_t i) { return static_cast<std::uint8_t>(table[i]); }
std::int8_t step(std::string_view table, std::size_t i) { return static_cast<std::int8_t>(table[i]); }

// Pairs of a step in bytes and a step in lines.
int by_address_steps(std::string_view table, int line, std::int32_t offset) {
  std::int32_t reached = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    reached += byte(table, i);
    if (reached > offset) break;
    line += step(table, i + 1);
  }
  return line;
}

// Pairs of a length in bytes and a step in lines, or the mark of a range without line.
int by_ranges(std::string_view table, int line, std::int32_t offset) {
  constexpr std::int8_t without_line = -128;
  std::int32_t end = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    const bool has_line = step(table, i + 1) != without_line;
    if (has_line) line += step(table, i + 1);
    end += byte(table, i);
    if (end > offset) return has_line ? line : no_line;
  }
  return no_line;
}

// Entries that begin with a byte whose highest bit is set: a kind, and a length in units of two bytes. Some kinds have
// a step in lines, as a number in groups of six bits with its sign in the lowest.
int by_locations(std::string_view table, int line, std::int32_t offset) {
  constexpr std::uint8_t mark = 0x80;
  enum : unsigned { one_line = 10, one_line_last = 12, without_columns = 13, long_form = 14, without_line = 15 };
  std::int32_t end = 0;
  for (std::size_t i = 0; i < table.size();) {
    const std::uint8_t head = byte(table, i++);
    if ((head & mark) == 0) return no_line;
    const unsigned kind = head >> 3 & 15;
    if (kind == without_columns || kind == long_form) {
      unsigned number = 0, shift = 0;
      for (bool more = true; more; shift += 6) {
        if (i == table.size() || shift > 24) return no_line;
        number |= (byte(table, i) & 63u) << shift;
        more = (byte(table, i++) & 64) != 0;
      }
      const int distance = static_cast<int>(number >> 1);
      line += (number & 1) != 0 ? -distance : distance;
    } else if (kind >= one_line && kind <= one_line_last) {
      line += static_cast<int>(kind - one_line);
    }
    end += 2 * ((head & 7) + 1);
    if (end > offset) return kind == without_line ? no_line : line;
    while (i < table.size() && (byte(table, i) & mark) == 0) ++i;
  }
  return no_line;
}

}  // namespace

int line_at(LineTableKind kind, std::string_view table, int first_line, std::int32_t offset) {
  switch (kind) {
    case LineTableKind::address_steps: return by_address_steps(table, first_line, offset);
    case LineTableKind::ranges: return offset < 0 ? first_line : by_ranges(table, first_line, offset);
    case LineTableKind::locations: return offset < 0 ? first_line : by_locations(table, first_line, offset);
  }
  return no_line;
}

}  // namespace gpumem
