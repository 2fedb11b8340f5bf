#include "forensics/error_text.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>

namespace gpumem {
namespace {

#define NAME(error) \
  { error, #error }
// What making a process, a pipe or memory, and executing a file can fail with.
constexpr struct {
  int error;
  const char* name;
} names[] = {NAME(E2BIG),  NAME(EACCES), NAME(EAGAIN),  NAME(EBADF),        NAME(EINVAL), NAME(EIO),    NAME(ELIBBAD),
             NAME(ELOOP),  NAME(EMFILE), NAME(ENFILE),  NAME(ENAMETOOLONG), NAME(ENOENT), NAME(ENOMEM), NAME(ENOEXEC),
             NAME(ENOSPC), NAME(ENOSYS), NAME(ENOTDIR), NAME(EPERM),        NAME(ESTALE), NAME(ETXTBSY)};
#undef NAME

}  // namespace

void error_text(int error, char* text, std::size_t capacity) {
  for (const auto& known : names) {
    if (known.error != error) continue;
    std::strncpy(text, known.name, capacity - 1);
    text[capacity - 1] = '\0';
    return;
  }
  numbered_text("error ", error, text, capacity);
}

void numbered_text(const char* words, int number, char* text, std::size_t capacity) {
  std::strncpy(text, words, capacity - 1);
  text[capacity - 1] = '\0';
  char* at = text + std::strlen(text);
  const auto [end, failed] = std::to_chars(at, text + capacity - 1, number);
  *(failed == std::errc{} ? end : at) = '\0';
}

}  // namespace gpumem
