// The GPUMEM_* variables, read once when the library is loaded: what the program does to its environment later
// changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpumem {

enum class Milliseconds : std::uint32_t {};

enum class UnwinderChoice : unsigned char { automatic, rules, boost };

struct Settings {
  // Made from the name, as the table has it.
  struct way {
    UnwinderChoice choice = UnwinderChoice::automatic;
    constexpr way() = default;
    constexpr explicit way(std::string_view name) { parse(name); }
    constexpr bool parse(std::string_view name) {
      if (name != "auto" && name != "rules" && name != "boost") return false;
      choice = name == "auto"    ? UnwinderChoice::automatic
               : name == "rules" ? UnwinderChoice::rules
                                 : UnwinderChoice::boost;
      return true;
    }
  };
  using text = const char*;
  using flag = bool;
  using bytes = std::uint64_t;
  using count = unsigned;
  using millis = Milliseconds;

#define SETTING(type, identifier, variable, fallback, description) type identifier{fallback};
#include "api/settings.def"
#undef SETTING

  // The variables whose values did not parse, so that their defaults are in force.
  struct Rejected {
    const char* variable;
    const char* wanted;  // what it must be
    char value[64];      // the start of what it was
  };
  static constexpr unsigned most_rejected = 4;
  unsigned rejected_count = 0;
  Rejected rejected[most_rejected];
};

// Texts point into the environment as it was; they stay valid because they are copied once, at load.
const Settings& settings();

// Parsers, open for tests. False: not a value of the type, `value` unchanged.
bool parse_setting(const char* text, bool& value);
bool parse_setting(const char* text, std::uint64_t& value);  // bytes: K, M, G
bool parse_setting(const char* text, unsigned& value);       // 0 to 256
bool parse_setting(const char* text, Milliseconds& value);   // 0 to an hour
bool parse_setting(const char* text, Settings::way& value);  // a name

}  // namespace gpumem
