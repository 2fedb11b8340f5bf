#include "probe/kernel_log.hpp"

#include <sys/klog.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <sstream>

namespace gpumem {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_lines = 20;

struct LogLine {
  std::optional<double> at;  // seconds since the start of the log's clock
  std::string text;

  bool is_resume() const {
    return text.starts_with("PM: ") && (text.ends_with("suspend exit") || text.ends_with("hibernation exit"));
  }
  bool matters() const {
    std::string lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char letter) { return std::tolower(letter); });
    constexpr const char* words[] = {"nvrm", "nvidia", "nouveau", "out of memory", "oom-kill", "oom_reaper"};
    return is_resume() || std::any_of(std::begin(words), std::end(words),
                                      [&lower](const char* word) { return lower.find(word) != std::string::npos; });
  }
};

// <PRIORITY>[SECONDS][CALLER] TEXT, of which only the text is always there.
LogLine log_line_of(const std::string& line) {
  std::size_t begin = line.starts_with("<") ? line.find('>') + 1 : 0;
  LogLine found;
  while (begin < line.size() && line[begin] == '[') {
    const auto end = line.find(']', begin);
    if (end == std::string::npos) break;
    const char* number = line.c_str() + begin + 1;
    char* number_end = nullptr;
    const double seconds = std::strtod(number, &number_end);
    const bool is_time = number_end == line.c_str() + end;
    if (!is_time && !found.at) break;  // a text that begins with a bracket
    if (is_time) found.at = seconds;
    begin = end + 1;
  }
  if (begin < line.size() && line[begin] == ' ' && found.at) ++begin;
  found.text = line.substr(begin);
  return found;
}

template <class Visit>
void for_each_line(const std::string& log, Visit visit) {
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) visit(log_line_of(line));
}

}  // namespace

FileText read_kernel_log() {
  constexpr int read_all = 3, size_of_buffer = 10;
  const int size = ::klogctl(size_of_buffer, nullptr, 0);
  if (size < 0) return {std::nullopt, ::strerrorname_np(errno)};
  std::string text(static_cast<std::size_t>(size), '\0');
  const int count = ::klogctl(read_all, text.data(), size);
  if (count < 0) return {std::nullopt, ::strerrorname_np(errno)};
  text.resize(static_cast<std::size_t>(count));
  return {std::move(text)};
}

ordered_json lines_that_matter(const std::string& log, double now) {
  std::deque<ordered_json> newest;
  for_each_line(log, [&](const LogLine& line) {
    if (!line.matters()) return;
    newest.push_back({{"seconds_ago", line.at ? ordered_json(now - *line.at) : ordered_json()}, {"text", line.text}});
    if (newest.size() > most_lines) newest.pop_front();
  });
  return newest;
}

std::optional<double> seconds_since_resume(const std::string& log, double now) {
  std::optional<double> since;
  for_each_line(log, [&](const LogLine& line) {
    if (line.is_resume() && line.at) since = now - *line.at;
  });
  return since;
}

}  // namespace gpumem
