// Runs a command line of the shell and keeps what came of it.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "scratch_folder.hpp"

namespace gpumem {

struct finished_program {
  int status = -1;  // exit status, 128 + n after signal n
  std::string out;
  std::string err;
};

inline finished_program run_program(const std::string& command) {
  const scratch_folder folder;
  const auto out = folder.path() / "out";
  const auto err = folder.path() / "err";
  const int status = std::system(("( " + command + "\n) >" + out.string() + " 2>" + err.string()).c_str());
  finished_program result;
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = read_text(out);
  result.err = read_text(err);
  return result;
}

}  // namespace gpumem
