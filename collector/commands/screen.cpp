#include "commands/screen.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "commands/output.hpp"
#include "model/error.hpp"

namespace gpumem {
namespace {

constexpr const char* other_screen = "\033[?1049h\033[?25l";
constexpr const char* own_screen = "\033[?25h\033[?1049l";
constexpr const char* from_top = "\033[H";
constexpr const char* end_of_line = "\033[K\n";
constexpr const char* end_of_page = "\033[J";

volatile std::sig_atomic_t is_told_to_end = 0;

void tell_to_end(int) { is_told_to_end = 1; }

std::size_t rows_of_terminal() {
  winsize size{};
  return ::ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 ? size.ws_row : 24;
}

}  // namespace

Screen::Screen() {
  struct sigaction action {};
  action.sa_handler = tell_to_end;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  ::tcgetattr(0, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  ::tcsetattr(0, TCSANOW, &raw);
  write_out(1, other_screen);
}

Screen::~Screen() {
  ::tcsetattr(0, TCSANOW, &before_);
  try {
    write_out(1, own_screen);
  } catch (const Error&) {
    // The terminal has gone.
  }
}

void Screen::show(std::string_view page) {
  std::string text = from_top;
  for (std::size_t left = rows_of_terminal() - 1; left > 0 && !page.empty(); --left) {
    const auto end = page.find('\n');
    text += page.substr(0, end);
    text += end_of_line;
    page.remove_prefix(end == page.npos ? page.size() : end + 1);
  }
  write_out(1, text + end_of_page);
}

bool Screen::wait(std::chrono::milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (!is_told_to_end) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    pollfd keys{0, POLLIN, 0};
    if (::poll(&keys, 1, static_cast<int>(left.count())) <= 0) continue;
    char key = 0;
    if (::read(0, &key, 1) <= 0 || key == 'q') return false;
  }
  return false;
}

}  // namespace gpumem
