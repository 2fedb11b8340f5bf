#include "commands/child_process.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "model/error.hpp"
#include "model/proc_stat.hpp"

namespace gpumem {
namespace {

constexpr int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP};

std::uint64_t wall_clock_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int signal : passed_on) sigaddset(&set, signal);
  return set;
}

// Blocks what we wait for, and remembers how things were for the child.
class SignalWatch {
 public:
  SignalWatch() {
    const sigset_t set = watched_signals();
    sigprocmask(SIG_BLOCK, &set, &mask_before_);
    // An inherited "ignore" would make the kernel reap the child before we know how it ended.
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &usual, &child_action_before_);
  }
  ~SignalWatch() { restore(); }
  void restore() const {
    sigaction(SIGCHLD, &child_action_before_, nullptr);
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }

 private:
  sigset_t mask_before_{};
  struct sigaction child_action_before_ {};
};

[[noreturn]] void become(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
                         int report_trouble) {
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  const int trouble = errno;
  [[maybe_unused]] const ssize_t told = ::write(report_trouble, &trouble, sizeof trouble);
  ::_exit(127);
}

pid_t start(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
            const SignalWatch& signals) {
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0)
    throw Error(std::string("No pipe could be made: ") + std::strerror(errno) + ".");
  const pid_t child = ::fork();
  if (child == 0) {
    signals.restore();
    become(command, environment, pipe_ends[1]);
  }
  const int fork_error = errno;
  ::close(pipe_ends[1]);
  int trouble = 0;
  ssize_t got = 0;
  if (child > 0) {
    do {
      got = ::read(pipe_ends[0], &trouble, sizeof trouble);
    } while (got < 0 && errno == EINTR);
  }
  ::close(pipe_ends[0]);
  if (child < 0) throw Error(std::string("No process could be made: ") + std::strerror(fork_error) + ".");
  if (got == sizeof trouble) {
    ::waitpid(child, nullptr, 0);
    throw StartFailure{trouble};
  }
  return child;
}

// Job control stopped the child: the shell must see us stopped too, or it would wait for ever.
void stop_with(pid_t child) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WNOHANG) != 0 || info.si_pid == 0) return;
  if (info.si_status != SIGTSTP && info.si_status != SIGTTIN && info.si_status != SIGTTOU) return;
  ::raise(SIGSTOP);
  ::kill(child, SIGCONT);
}

bool has_ended(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

void wait_until_ended(pid_t child) {
  const sigset_t set = watched_signals();
  while (!has_ended(child)) {
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&set, &info);
    if (signal == SIGCHLD) {
      stop_with(child);
    } else if (signal > 0 && (info.si_code <= 0 || signal == SIGCONT)) {
      // The kernel's own signals (si_code above 0: the terminal's keys, a hang-up) reached the whole group already.
      ::kill(child, signal);
    }
  }
}

}  // namespace

FinishedChild run_child(const std::vector<std::string>& command,
                        const std::map<std::string, std::string>& environment) {
  const SignalWatch signals;
  FinishedChild result;
  result.status.command = command;
  result.status.started_ns = wall_clock_ns();
  const pid_t child = start(command, environment, signals);
  result.status.pid = child;
  wait_until_ended(child);
  result.status.ended_ns = wall_clock_ns();
  // Before the zombie is reaped: afterwards nothing knows when it started.
  if (const auto stat = read_proc_stat(child)) result.start = stat->start;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    result.status.signal = WTERMSIG(status);
  } else {
    result.status.exit_status = WEXITSTATUS(status);
  }
  return result;
}

int end_like(const ExitRecord& status) {
  if (!status.signal) return status.exit_status.value_or(0);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::signal(*status.signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, *status.signal);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(*status.signal);
  constexpr int shell_base_of_signals = 128;  // where the signal does not end us, say it as a shell would
  return shell_base_of_signals + *status.signal;
}

}  // namespace gpumem
