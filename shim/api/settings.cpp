#include "api/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/lazy.hpp"

namespace gpumem {
namespace {

constexpr unsigned largest_count = 256;
constexpr std::uint64_t longest_wait = 3'600'000;
constexpr std::size_t longest_text = 4096;
constexpr unsigned text_count = 2;
char text_copies[text_count][longest_text];
unsigned texts_used = 0;

}  // namespace

static bool parse_setting(const char* text, const char*& value) {
  const std::size_t length = std::strlen(text);
  if (length >= longest_text || texts_used == text_count) return false;
  char* copy = text_copies[texts_used++];
  std::memcpy(copy, text, length + 1);
  value = copy;
  return true;
}

namespace {

constexpr const char* wanted(const bool&) { return "0 or 1"; }
constexpr const char* wanted(const std::uint64_t&) { return "a number of bytes such as 1000000, 64K, 256M or 2G"; }
constexpr const char* wanted(const unsigned&) { return "a number from 0 to 256"; }
constexpr const char* wanted(const Milliseconds&) { return "a number of milliseconds from 0 to 3600000"; }
constexpr const char* wanted(const Settings::way&) { return "auto, rules or boost"; }
constexpr const char* wanted(const char* const&) { return "a text of at most 4095 bytes"; }

void reject(Settings& read, const char* variable, const char* given, const char* wanted) {
  if (read.rejected_count == Settings::most_rejected) return;
  Settings::Rejected& rejected = read.rejected[read.rejected_count++];
  rejected = {variable, wanted, ""};
  std::strncpy(rejected.value, given, sizeof rejected.value - 1);
}

Settings read_environment() {
  Settings read;
#define SETTING(type, identifier, variable, fallback, description)                       \
  if (const char* given = std::getenv(variable); given != nullptr && given[0] != '\0') { \
    Settings::type value{};                                                              \
    if (parse_setting(given, value)) {                                                   \
      read.identifier = value;                                                           \
    } else {                                                                             \
      reject(read, variable, given, wanted(value));                                      \
    }                                                                                    \
  }
#include "api/settings.def"
#undef SETTING
  return read;
}

}  // namespace

bool parse_setting(const char* text, bool& value) {
  if ((text[0] != '0' && text[0] != '1') || text[1] != '\0') return false;
  value = text[0] == '1';
  return true;
}

bool parse_setting(const char* text, std::uint64_t& value) {
  const char* end = text + std::strlen(text);
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text, end, number);
  if (error != std::errc{} || rest == text) return false;
  unsigned shift = 0;
  if (rest != end) {
    if (rest + 1 != end) return false;
    switch (*rest) {
      case 'k':
      case 'K': shift = 10; break;
      case 'm':
      case 'M': shift = 20; break;
      case 'g':
      case 'G': shift = 30; break;
      default: return false;
    }
  }
  if (number > (~std::uint64_t{0} >> shift)) return false;
  value = number << shift;
  return true;
}

bool parse_setting(const char* text, unsigned& value) {
  std::uint64_t number = 0;
  if (!parse_setting(text, number) || number > largest_count) return false;
  value = static_cast<unsigned>(number);
  return true;
}

bool parse_setting(const char* text, Milliseconds& value) {
  const char* end = text + std::strlen(text);
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text, end, number);
  if (error != std::errc{} || rest != end || number > longest_wait) return false;
  value = static_cast<Milliseconds>(number);
  return true;
}

bool parse_setting(const char* text, Settings::way& value) { return value.parse(text); }

const Settings& settings() {
  static constinit Lazy<Settings> read;
  return read.get(read_environment);
}

}  // namespace gpumem
