#include "forensics/open_descriptors.hpp"

#include <cstdint>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gpumem {
namespace {

// The kernel's own: glibc has none for it.
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];
};

int number_in(const char* name) {
  int number = 0;
  if (*name < '0' || *name > '9') return -1;
  for (; *name >= '0' && *name <= '9'; ++name) number = number * 10 + (*name - '0');
  return number;
}

}  // namespace

OpenDescriptors::OpenDescriptors()
    : folder_(static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC))) {}

OpenDescriptors::~OpenDescriptors() {
  if (known()) syscall(SYS_close, folder_);
}

int OpenDescriptors::next() {
  for (;;) {
    if (at_ == end_) {
      const long got = known() ? syscall(SYS_getdents64, folder_, entries_, sizeof entries_) : 0;
      if (got <= 0) return -1;
      at_ = 0;
      end_ = static_cast<std::size_t>(got);
    }
    const auto* entry = reinterpret_cast<const Entry*>(entries_ + at_);
    at_ += entry->length;
    const int number = number_in(entry->name);
    if (number >= 0 && number != folder_) return number;
  }
}

}  // namespace gpumem
