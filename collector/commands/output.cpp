#include "commands/output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "model/error.hpp"

namespace gpumem {

OutputStyle style_of(int descriptor) {
  constexpr std::size_t narrowest = 40;
  constexpr std::size_t widest = 1000;
  OutputStyle style;
  const bool is_terminal = ::isatty(descriptor);
  winsize size{};
  std::size_t width = is_terminal && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
  if (const char* columns = std::getenv("COLUMNS"); width == 0 && columns) {
    std::from_chars(columns, columns + std::strlen(columns), width);
  }
  if (width > 0) style.width = std::clamp(width, narrowest, widest);
  if (!is_terminal) return style;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal && std::strcmp(terminal, "dumb") == 0;
  style.colour = !(no_colour && *no_colour) && !is_dumb;
  return style;
}

void write_out(int descriptor, std::string_view text) {
  std::signal(SIGPIPE, SIG_IGN);
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      return;
    } else if (errno != EINTR) {
      throw Error(std::string("The answer cannot be written: ") + std::strerror(errno) + ".");
    }
  }
}

}  // namespace gpumem
