#include "forensics/process_state.hpp"

#include <charconv>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/pages.hpp"
#include "forensics/open_descriptors.hpp"
#include "forensics/read_file.hpp"

namespace gpumem {
namespace {

// The number in a line such as "VmRSS:     1234 kB"; `key` is "\nVmRSS:".
std::uint64_t number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return ProcessState::unknown;
  text.remove_prefix(at + key.size());
  while (!text.empty() && (text[0] == ' ' || text[0] == '\t')) text.remove_prefix(1);
  std::uint64_t number = ProcessState::unknown;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::uint64_t bytes_after(std::string_view text, std::string_view key) {
  const std::uint64_t kibibytes = number_after(text, key);
  return kibibytes == ProcessState::unknown ? kibibytes : kibibytes * 1024;
}

// Linux tells it as the folder's size from 6.2 on. Before that each entry is made while it is listed, at about a
// microsecond each.
std::uint64_t count_descriptors() {
  struct stat folder {};
  if (syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/fd", &folder, 0) == 0 && folder.st_size > 0)
    return static_cast<std::uint64_t>(folder.st_size);
  constexpr std::uint64_t most = 2048;
  OpenDescriptors descriptors;
  if (!descriptors.known()) return ProcessState::unknown;
  std::uint64_t count = 0;
  while (descriptors.next() >= 0)
    if (++count > most) return ProcessState::unknown;
  return count;
}

}  // namespace

void gather_process_memory(ProcessState& state) {
  const Pages text(8192);
  if (!text) return;
  const std::string_view status(text.begin(), read_file("/proc/self/status", text.begin(), text.size()));
  state.virtual_bytes = bytes_after(status, "\nVmSize:");
  state.resident_bytes = bytes_after(status, "\nVmRSS:");
  state.locked_bytes = bytes_after(status, "\nVmLck:");
  state.swapped_bytes = bytes_after(status, "\nVmSwap:");
  state.threads = number_after(status, "\nThreads:");
}

void gather_process_state(ProcessState& state) {
  gather_process_memory(state);
  state.descriptors = count_descriptors();
}

}  // namespace gpumem
