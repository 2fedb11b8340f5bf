#include "forensics/helper_supervisor.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <initializer_list>

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "forensics/open_descriptors.hpp"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

namespace gpumem {
namespace {

// The supervisor's table of descriptors is a copy of the program's.
bool close_all() {
  if (syscall(SYS_close_range, 0, ~0u, 0) == 0) return true;
  syscall(SYS_close, STDIN_FILENO);  // the table may be full
  OpenDescriptors open;
  for (int descriptor; (descriptor = open.next()) >= 0;) syscall(SYS_close, descriptor);
  return open.known();
}

// In an empty table a pipe's ends are 0 and 1, so what is written to 1 comes out of 0. Returns an error, or 0.
int make_pipe() {
  int ends[2];
  if (!close_all() || syscall(SYS_pipe2, ends, 0) != 0) return errno;
  return ends[1] == STDOUT_FILENO ? 0 : EBADF;
}

void keep_output_only() {
  syscall(SYS_close, STDIN_FILENO);
  if (syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR) < 0) syscall(SYS_openat, AT_FDCWD, "/", O_PATH);
  syscall(SYS_dup3, STDIN_FILENO, STDERR_FILENO, 0);
}

// What the host chose for itself must not stop the helper, as far as that can be undone.
void lift_limits() {
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(resource, &limit);
  }
  constexpr rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const sched_param no_priority{};
  syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &no_priority);
}

// Where memory is short, it is the helper that the kernel shall end. This is its own value although the memory is
// shared yet: the kernel treats a child whose parent waits for its execve so.
void go_first_when_memory_is_short() {
  const int file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file < 0) return;
  syscall(SYS_write, file, "1000", 4);
  syscall(SYS_close, file);
}

// As the kernel knows them: a handler, and zeros for no flags. Ignoring a signal takes away one that waits: what a
// terminal sent before the session was a new one.
void use_default_action(int signal) {
  constexpr unsigned long ignore[8]{1}, default_action[8]{};
  for (const auto* action : {ignore, default_action})
    syscall(SYS_rt_sigaction, signal, action, nullptr, sizeof(std::uint64_t));
}

int become_helper(void* opaque) {
  HelperRun& run = *static_cast<HelperRun*>(opaque);
  syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (syscall(SYS_getppid) == run.supervisor) {
    syscall(SYS_setsid);
    keep_output_only();
    lift_limits();
    go_first_when_memory_is_short();
    constexpr int last_signal = 64;
    for (int signal = 1; signal <= last_signal; ++signal) use_default_action(signal);
    constexpr std::uint64_t none = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
    syscall(SYS_execve, run.command->program, run.command->arguments, run.command->environment);
    run.error = errno;
  }
  syscall(SYS_exit_group, 127);
  __builtin_unreachable();
}

}  // namespace

// The group first: what the helper left behind ends with it.
void kill_helper(HelperRun& run) {
  syscall(SYS_kill, -run.helper, SIGKILL);
  syscall(SYS_kill, run.helper, SIGKILL);
}

namespace {

// Takes an ended child's number away. Until then it can be no other process's.
void take(HelperRun& run, pid_t child) {
  Held held(run.killing);
  const bool is_helper = child == run.helper;
  if (is_helper) kill_helper(run);
  int status = 0;
  syscall(SYS_wait4, child, &status, 0, nullptr);
  if (!is_helper) return;
  run.helper = 0;
  run.status = status;
  run.ended.store(true, std::memory_order_release);
}

// False: 0 is no pipe of ours.
bool start_helper(HelperRun& run) {
  if (syscall(SYS_getppid) != run.host || (run.error = make_pipe()) != 0) return false;
  if (__clone(become_helper, run.helper_stack, CLONE_VM | CLONE_VFORK | CLONE_UNTRACED | CLONE_PARENT_SETTID | SIGCHLD,
              &run, &run.helper) < 0)
    run.error = errno;
  run.phase.store(HelperRun::listening, std::memory_order_release);
  syscall(SYS_close, STDOUT_FILENO);
  return true;
}

void read_line(HelperRun& run) {
  while (run.size == 0 && run.used < run.capacity) {
    const long got = syscall(SYS_read, STDIN_FILENO, run.line + run.used, run.capacity - run.used);
    if (got <= 0) break;
    for (const std::size_t end = run.used + static_cast<std::size_t>(got); run.used < end && run.size == 0; ++run.used)
      if (run.line[run.used] == '\n') run.size = run.used + 1;
  }
  syscall(SYS_close, STDIN_FILENO);
}

}  // namespace

int supervise(void* opaque) {
  HelperRun& run = *static_cast<HelperRun*>(opaque);
  syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  use_default_action(SIGCHLD);
  run.supervisor = syscall(SYS_getpid);
  if (start_helper(run)) read_line(run);
  run.phase.store(HelperRun::over, std::memory_order_release);
  syscall(SYS_futex, &run.phase, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  siginfo_t found{};
  while (syscall(SYS_waitid, P_ALL, 0, &found, WEXITED | WNOWAIT, nullptr) == 0) take(run, found.si_pid);
  syscall(SYS_exit_group, 0);
  __builtin_unreachable();
}

}  // namespace gpumem
