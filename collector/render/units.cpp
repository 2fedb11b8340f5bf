#include "render/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "render/text_page.hpp"

namespace gpumem {
namespace {

std::string decimal(double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f %s", value, unit);
  return text;
}

std::uint64_t not_negative(std::int64_t value) { return static_cast<std::uint64_t>(std::max<std::int64_t>(0, value)); }

}  // namespace

std::string exact_bytes(std::uint64_t bytes) {
  return bytes < 1024 ? bytes_text(bytes) : bytes_text(bytes) + " (" + grouped(bytes) + " bytes)";
}

std::string duration_text(std::uint64_t ns) {
  constexpr std::uint64_t second = 1'000'000'000;
  constexpr std::uint64_t minute = 60 * second;
  constexpr std::uint64_t hour = 60 * minute;
  const auto value = static_cast<double>(ns);
  if (ns < 1000) return std::to_string(ns) + " ns";
  if (ns < 1'000'000) return decimal(value / 1e3, "µs");
  if (ns < second) return decimal(value / 1e6, "ms");
  if (ns < 2 * minute) return decimal(value / 1e9, "s");
  if (ns < 2 * hour) return std::to_string(ns / minute) + " min " + std::to_string(ns % minute / second) + " s";
  return std::to_string(ns / hour) + " h " + std::to_string(ns % hour / minute) + " min";
}

std::string percent_text(std::int64_t part, std::uint64_t whole) {
  if (whole == 0) return "";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent > 0 && percent < 1) return "<1 %";
  if (percent > 99 && percent < 100) return ">99 %";
  return std::to_string(std::lround(percent)) + " %";
}

std::string blocks_and_bytes(const Usage& amount) {
  return count_of(not_negative(amount.blocks), "block") + ", " + bytes_text(not_negative(amount.bytes));
}

std::string kind_text(std::string_view kind) {
  if (const auto* known = find_kind(kind)) return is_object(kind) ? plural_of(known->text) : std::string(known->text);
  return kind.empty() ? "memory" : "\"" + printable(kind) + "\" (a kind that this gpumem does not know)";
}

std::string one_of_kind(std::string_view kind) {
  return is_object(kind) ? std::string(find_kind(kind)->text) : "block of " + kind_text(kind);
}

std::string amount_text(std::string_view kind, const Usage& amount) {
  if (is_object(kind)) return quantity_text(kind, not_negative(amount.blocks));
  return blocks_and_bytes(amount) + " of " + kind_text(kind);
}

std::string sums_text(const Sums& sums) {
  std::string text;
  for (const auto& [counts, amount] : sums) {
    if (amount.blocks <= 0) continue;
    text += text.empty() ? "" : "; ";
    text += counts == Counts::handles ? count_of(not_negative(amount.blocks), "object")
                                      : blocks_and_bytes(amount) + " of " + counts_text(counts);
  }
  return text;
}

const char* counts_text(Counts counts) {
  switch (counts) {
    case Counts::device_memory: return "device memory";
    case Counts::host_memory: return "host memory";
    case Counts::graph_memory: return "graph memory";
    case Counts::addresses: return "addresses";
    case Counts::others_memory: return "memory of others";
    case Counts::code: return "loaded code";
    case Counts::handles: break;
  }
  return "objects";
}

std::string on_device(const TotalKey& total) { return total.device ? " on GPU " + std::to_string(*total.device) : ""; }

std::string total_text(const TotalKey& total) { return kind_text(total.kind) + on_device(total); }

std::string signal_text(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return "signal " + std::to_string(signal) + (name ? " (SIG" + std::string(name) + ")" : "");
}

std::string shortened(std::string text, std::size_t most) {
  if (character_count(text) <= most) return text;
  std::size_t at = 0;
  for (std::size_t count = 0; count + 1 < most; ++count) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
  }
  text.resize(at);
  return text + "…";
}

std::string clock_text(std::uint64_t wall_ns) {
  const auto seconds = static_cast<std::time_t>(wall_ns / 1'000'000'000);
  std::tm local{};
  char text[40] = "";
  if (!::localtime_r(&seconds, &local) || std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &local) == 0)
    return "";
  return text;
}

std::string command_text(const std::vector<std::string>& words, std::size_t longest_word) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_";
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += ' ';
    const bool is_plain = !word.empty() && word.find_first_not_of(plain) == std::string::npos;
    const std::size_t most = &word == &words.front() ? std::string::npos : longest_word;
    const std::string shown = shortened(is_plain ? word : printable(word), most);
    text += is_plain ? shown : "'" + shown + "'";
  }
  return text;
}

std::string printable(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, in UTF-8 0xc2 0x80 to 0xc2 0x9f, are control characters too.
    const bool is_c1 = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (byte >= 0x20 && byte != 0x7f && !is_c1) {
      safe += text[i];
      continue;
    }
    if (const auto known = std::string_view("\n\t\r").find(text[i]); known != std::string_view::npos) {
      safe += '\\';
      safe += "ntr"[known];
      continue;
    }
    char escaped[8];
    const unsigned shown = is_c1 ? static_cast<unsigned char>(text[++i]) : byte;
    std::snprintf(escaped, sizeof escaped, "\\x%02x", shown);
    safe += escaped;
  }
  return safe;
}

}  // namespace gpumem
