#include "forensics/read_file.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace gpumem {

std::size_t read_file(const char* path, char* content, std::size_t capacity) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::size_t size = 0;
  while (size < capacity) {
    const ssize_t got = read(file, content + size, capacity - size);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  close(file);
  return size;
}

}  // namespace gpumem
