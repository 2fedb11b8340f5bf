// Runs another program beside the process, which does not notice: no SIGCHLD, nothing that waitpid(-1) would find, no
// handler of a fork, no copy of its memory, and no descriptor in its table. docs/ARCHITECTURE.md, "Helpers are
// invisible", says how.
//
// No allocation, no lock, no CUDA. The calling thread waits; its signals are handled meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/pages.hpp"

namespace gpumem {

struct HelperCommand {
  const char* program;                // a path
  const char* const* arguments;       // with the program's name, ended by nullptr
  const char* const* environment;     // ended by nullptr
  std::uint64_t longest_wait_ns = 0;  // then it is killed
};

struct HelperOutcome {
  enum class End {
    told,          // one whole line
    said_nothing,  // it ended without one, or the line does not fit
    timed_out,
    not_started,
  };
  End end = End::not_started;
  std::size_t size = 0;  // of the line, without its end
  int exit_status = -1;  // with said_nothing: what it ended with; -1: a signal ended it, or it has not ended
  char reason[64] = "";  // with said_nothing and not_started: the name of an error, or words
};

// `line`: where the first line of what it prints goes. Empty after a call whose helper the kernel did not let go of in
// time, for that may write there yet. One call at a time.
HelperOutcome run_helper(const HelperCommand& command, Pages& line);

}  // namespace gpumem
