// Runs a command line of the shell and keeps what came of it.
#pragma once

#include <string>

#include "process.hpp"

namespace gpumem {

struct FinishedProgram {
  int status = -1;  // exit status, 128 + n after signal n
  std::string out;
  std::string err;
};

inline FinishedProgram run_program(const std::string& command) {
  test::Environment environment = test::plain_environment();
  environment["XDG_CACHE_HOME"] = "/dev/null";  // what was looked up for one test is no help to another
  const test::Outcome outcome = test::run({{"sh", "-c", command}, environment});
  return {outcome.status ? *outcome.status : 128 + outcome.signal.value_or(0), outcome.out, outcome.err};
}

}  // namespace gpumem
