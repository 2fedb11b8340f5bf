// One line on a terminal that says how far a long work is. Nothing where standard error is none, or the work is short.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace gpumem {

class Progress {
 public:
  // `descriptor` is where it goes, a terminal, or -1: nowhere.
  Progress(int descriptor, std::size_t steps);
  ~Progress();  // wipes it
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One more step begins; `what` is it about.
  void step(const std::string& what);

 private:
  int descriptor_;
  std::size_t steps_;
  std::size_t step_ = 0;
  std::chrono::steady_clock::time_point next_;
  bool is_shown_ = false;
};

}  // namespace gpumem
