// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>

namespace simcuda::test {

/// Runs the body in a process of its own, which then ends with its answer; with 99 where the body throws.
inline pid_t fork_into(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process can be started");
  if (child > 0) return child;
  try {
    _exit(body());
  } catch (...) {
    _exit(99);
  }
}

/// A process that lives until it is killed. Ready: what it was given to do is done.
class child_process {
 public:
  explicit child_process(const std::function<void()>& body) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe can be made");
    pid_ = fork_into([&]() -> int {
      body();
      if (write(ends[1], "r", 1) != 1) return 1;
      for (;;) pause();
    });
    close(ends[1]);
    char byte = 0;
    is_ready_ = read(ends[0], &byte, 1) == 1;
    close(ends[0]);
  }
  ~child_process() {
    kill_it();
    reap();
  }
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  pid_t pid() const noexcept { return pid_; }
  bool is_ready() const noexcept { return is_ready_; }

  /// Returns when it is dead; nobody has asked for its status yet.
  void kill_it() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT);
  }
  void reap() {
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  bool is_ready_ = false;
};

}  // namespace simcuda::test
