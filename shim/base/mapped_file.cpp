#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace gpumem {

// From lines such as "7f00-7f10 r--p 0 fe:00 1  /lib/libc.so.6".
std::size_t mapped_file(std::uintptr_t address, char* path, std::size_t capacity) {
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return 0;
  std::uintptr_t begin = 0;
  bool in_begin = true, found = false;
  std::size_t length = 0;
  char piece[1024];
  for (ssize_t got; !found && (got = read(maps, piece, sizeof piece)) > 0;) {
    for (const char* c = piece; !found && c != piece + got; ++c) {
      if (*c == '\n') {
        found = begin == address;
        begin = 0;
        in_begin = true;
      } else if (in_begin && *c != '-') {
        begin = begin * 16 + static_cast<unsigned>(*c <= '9' ? *c - '0' : *c - 'a' + 10);
      } else {
        in_begin = false;
        if (begin == address && (length != 0 || *c == '/') && length < capacity) path[length++] = *c;
      }
    }
  }
  close(maps);
  return length;
}

}  // namespace gpumem
