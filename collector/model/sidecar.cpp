#include "model/sidecar.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "model/error.hpp"

namespace gpumem {
namespace {

bool write_all(int descriptor, const std::string& text) {
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t got = ::write(descriptor, text.data() + written, text.size() - written);
    if (got < 0 && errno != EINTR) return false;
    if (got > 0) written += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

void write_sidecar(const std::filesystem::path& path, const std::string& text) {
  const std::string draft = path.string() + "." + std::to_string(::getpid());
  const int descriptor = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  bool written = descriptor >= 0;
  if (written) {
    written = write_all(descriptor, text);
    written = ::close(descriptor) == 0 && written && ::rename(draft.c_str(), path.c_str()) == 0;
  }
  if (written) return;
  const std::string reason = std::strerror(errno);
  if (descriptor >= 0) ::unlink(draft.c_str());
  throw Error(path.string() + " cannot be written: " + reason + ".");
}

std::optional<std::string> read_sidecar(const std::filesystem::path& path, std::uint64_t most) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  std::optional<std::string> text;
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
      static_cast<std::uint64_t>(status.st_size) <= most) {
    text.emplace(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t filled = 0;
    while (filled < text->size()) {
      const ssize_t got = ::read(descriptor, text->data() + filled, text->size() - filled);
      if (got <= 0) break;
      filled += static_cast<std::size_t>(got);
    }
    text->resize(filled);
  }
  ::close(descriptor);
  return text;
}

}  // namespace gpumem
