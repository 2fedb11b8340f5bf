// A terminal that shows one page after the other, and is as it was afterwards.
#pragma once

#include <termios.h>

#include <chrono>
#include <string_view>

namespace gpumem {

class Screen {
 public:
  // Takes standard output and standard input, both terminals.
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // As many lines as there is room for.
  void show(std::string_view page);

  // False where somebody wants to leave: q, Ctrl-C, or a signal to end.
  bool wait(std::chrono::milliseconds time);

 private:
  termios before_{};
};

}  // namespace gpumem
