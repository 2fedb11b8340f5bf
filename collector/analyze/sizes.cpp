#include "analyze/sizes.hpp"

#include <cstdio>

#include "analyze/kinds.hpp"

namespace gpumem {

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.95 would be printed as 1024.0: it belongs to the next unit.
  while (value >= 1023.95 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", value, units[unit]);
  return text;
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string plural_of(std::string_view noun) {
  if (noun.ends_with("ry")) return std::string(noun.substr(0, noun.size() - 1)) + "ies";
  if (noun.ends_with("s")) return std::string(noun) + "es";
  return std::string(noun) + "s";
}

std::string count_of(std::uint64_t count, std::string_view noun) {
  return grouped(count) + " " + (count == 1 ? std::string(noun) : plural_of(noun));
}

std::string quantity_text(std::string_view kind, std::uint64_t amount) {
  return is_object(kind) ? count_of(amount, find_kind(kind)->text) : bytes_text(amount);
}

}  // namespace gpumem
