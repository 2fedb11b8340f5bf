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
  facts.environment_size = read_file("/proc/self/environ", facts.environment, sizeof facts.environment);
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

bool environment_at_exec(const ProcessFacts& facts, std::string_view name, std::string_view& value) {
  std::string_view entry;
  for (std::size_t n = 0; nth_text(facts.environment, facts.environment_size, n, entry); ++n) {
    if (!entry.starts_with(name) || entry.size() <= name.size() || entry[name.size()] != '=') continue;
    value = {entry.data() + name.size() + 1, entry.size() - name.size() - 1};
    return true;
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
