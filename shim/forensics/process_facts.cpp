#include "forensics/process_facts.hpp"

#include <charconv>
#include <cstring>

#include <sys/resource.h>
#include <unistd.h>

#include "forensics/read_file.hpp"

namespace gpumem {
namespace {

void read_first_line(const char* path, char* line, std::size_t capacity) {
  const std::size_t size = read_file(path, line, capacity - 1);
  line[size] = '\0';
  if (char* newline = std::strchr(line, '\n')) *newline = '\0';
}

// Field 22 of the stat file, counted after the command, which can hold anything but is closed by the last ')'.
std::uint64_t read_start_ticks() {
  char stat[1024];
  const std::size_t size = read_file("/proc/self/stat", stat, sizeof stat - 1);
  stat[size] = '\0';
  const char* at = std::strrchr(stat, ')');
  for (int field = 2; at != nullptr && field < 22; ++field) {
    at = std::strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  std::uint64_t ticks = 0;
  if (at != nullptr) std::from_chars(at, stat + size, ticks);
  return ticks;
}

void read_environment(ProcessFacts& facts) {
  constexpr std::size_t capacity = sizeof facts.environment;
  std::size_t size = read_file("/proc/self/environ", facts.environment, capacity);
  facts.has_whole_environment = size < capacity;
  if (!facts.has_whole_environment)
    while (size > 0 && facts.environment[size - 1] != '\0') --size;
  facts.environment_size = size;
  for (const char* at = facts.environment; at < facts.environment + size; at += std::strlen(at) + 1) {
    const std::string_view entry(at);
    for (std::size_t i = 0; i < std::size(recorded_variables); ++i) {
      const std::size_t length = std::strlen(recorded_variables[i]);
      if (facts.recorded_at_exec[i].data() == nullptr && entry.size() > length && entry[length] == '=' &&
          entry.starts_with(recorded_variables[i]))
        facts.recorded_at_exec[i] = {at + length + 1, entry.size() - length - 1};
    }
  }
}

}  // namespace

void gather_process_facts(ProcessFacts& facts) {
  facts.pid = getpid();
  facts.parent = getppid();
  facts.user = getuid();
  facts.start_ticks = read_start_ticks();
  if (gethostname(facts.host, sizeof facts.host) != 0) facts.host[0] = '\0';
  facts.host[sizeof facts.host - 1] = '\0';
  const ssize_t length = readlink("/proc/self/exe", facts.executable, sizeof facts.executable - 1);
  facts.executable[length > 0 ? length : 0] = '\0';
  if (getcwd(facts.directory, sizeof facts.directory) == nullptr) facts.directory[0] = '\0';
  read_first_line("/proc/driver/nvidia/version", facts.kernel_driver, sizeof facts.kernel_driver);
  facts.arguments_size = read_file("/proc/self/cmdline", facts.arguments, sizeof facts.arguments);
  read_environment(facts);
}

bool nth_text(const char* list, std::size_t size, std::size_t n, std::string_view& text) {
  const char* at = list;
  const char* end = list + size;
  for (; at < end; --n) {
    const char* stop = static_cast<const char*>(std::memchr(at, '\0', static_cast<std::size_t>(end - at)));
    if (stop == nullptr) stop = end;
    if (n == 0) {
      text = {at, static_cast<std::size_t>(stop - at)};
      return true;
    }
    at = stop + 1;
  }
  return false;
}

bool soft_limit(Limit limit, std::uint64_t& value) {
  constexpr decltype(RLIMIT_AS) resources[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_NPROC};
  rlimit found{};
  if (getrlimit(resources[static_cast<unsigned>(limit)], &found) != 0 || found.rlim_cur == RLIM_INFINITY) return false;
  value = found.rlim_cur;
  return true;
}

}  // namespace gpumem
