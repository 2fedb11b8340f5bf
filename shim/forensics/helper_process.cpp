#include "forensics/helper_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include <linux/futex.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic_clock.hpp"
#include "base/old_glibc.hpp"
#include "base/pages.hpp"
#include "forensics/error_text.hpp"
#include "forensics/helper_supervisor.hpp"

namespace gpumem {
namespace {

// Where the supervisor and the helper have their stacks, a place for errno, and what all share.
class Room {
 public:
  Room() : pages_(tls_at + 2 * margin + errno_distance()) {
    if (!pages_) return;
    for (const std::size_t guard : {std::size_t{0}, helper_stack_at})
      mprotect(pages_.begin() + guard, guard_size, PROT_NONE);
    // Where the processor has no other way to tell it, as on x86-64.
    *static_cast<void**>(thread_pointer()) = thread_pointer();
  }

  explicit operator bool() const { return static_cast<bool>(pages_); }
  HelperRun* run() const { return reinterpret_cast<HelperRun*>(pages_.begin() + run_at); }
  char* supervisor_stack() const { return pages_.begin() + helper_stack_at; }
  char* helper_stack() const { return pages_.begin() + run_at; }
  void release() { pages_.release(); }
  // A thread pointer from which errno is as far as it is from this thread's.
  void* thread_pointer() const {
    return pages_.begin() + tls_at + margin + (offset_of_errno() < 0 ? errno_distance() : 0);
  }

 private:
  static std::ptrdiff_t offset_of_errno() {
    return reinterpret_cast<char*>(&errno) - static_cast<char*>(__builtin_thread_pointer());
  }
  static std::size_t errno_distance() {
    const std::ptrdiff_t offset = offset_of_errno();
    return (static_cast<std::size_t>(offset < 0 ? -offset : offset) + 63) & ~std::size_t{63};
  }

  static constexpr std::size_t guard_size = 64 * 1024, stack_size = 64 * 1024;  // whole pages everywhere
  static constexpr std::size_t helper_stack_at = guard_size + stack_size;
  static constexpr std::size_t run_at = helper_stack_at + guard_size + stack_size;
  static constexpr std::size_t tls_at = run_at + 4096;
  static constexpr std::size_t margin = 4096;  // what the C library has beside a thread pointer

  Pages pages_;
};

// A supervisor whose helper the kernel would not let go of.
std::atomic<pid_t> left_behind{0};

// Whether a supervisor has ended; it is given back to the kernel then.
bool is_gone(pid_t supervisor) { return syscall(SYS_wait4, supervisor, nullptr, WNOHANG | __WCLONE, nullptr) != 0; }

// After unshare(CLONE_NEWPID) the next child is the first process of a namespace that ends with it: not ours to be.
bool children_go_elsewhere() {
  char own[64], theirs[64];
  struct stat exists {};
  constexpr const char* for_children = "/proc/thread-self/ns/pid_for_children";
  const ssize_t length = readlink("/proc/thread-self/ns/pid", own, sizeof own);
  if (length < 0 || !status_of_path(for_children, exists)) return false;
  return readlink(for_children, theirs, sizeof theirs) != length ||
         std::memcmp(own, theirs, static_cast<std::size_t>(length)) != 0;
}

template <class Condition>
bool comes_true(Condition&& condition) {
  constexpr std::uint64_t patience_ns = 100 * ns_per_millisecond;
  const std::uint64_t until = monotonic_ns() + patience_ns;
  while (!condition()) {
    if (monotonic_ns() >= until) return false;
    const timespec moment{0, 100'000};
    nanosleep(&moment, nullptr);
  }
  return true;
}

// No signal may meet the supervisor, in which the program's handlers would run; nor this thread, which a handler could
// leave by a jump, before the helper has become another program and needs nothing of this one any more.
pid_t start_supervisor(HelperRun& run, const Room& room) {
  constexpr std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t before = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
  const pid_t supervisor =
      __clone(supervise, room.supervisor_stack(), CLONE_VM | CLONE_UNTRACED | CLONE_SETTLS | CLONE_CHILD_CLEARTID, &run,
              nullptr, room.thread_pointer(), &run.phase);
  const int error = errno;
  if (supervisor > 0) comes_true([&] { return run.phase.load(std::memory_order_acquire) != HelperRun::starting; });
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
  errno = error;
  return supervisor;
}

// Whether that came before the deadline. A child that a signal handler forks meanwhile has a supervisor no more.
bool wait_until_over(HelperRun& run, std::uint64_t until_ns) {
  int phase;
  while ((phase = run.phase.load(std::memory_order_acquire)) != HelperRun::over && syscall(SYS_getpid) == run.host) {
    const std::uint64_t now = monotonic_ns();
    if (now >= until_ns) return false;
    const timespec left{static_cast<time_t>((until_ns - now) / ns_per_second),
                        static_cast<long>((until_ns - now) % ns_per_second)};
    syscall(SYS_futex, &run.phase, FUTEX_WAIT, phase, &left, nullptr, 0);
  }
  return true;
}

HelperOutcome listen(HelperRun& run, std::uint64_t until_ns) {
  HelperOutcome outcome;
  if (!wait_until_over(run, until_ns)) {
    outcome.end = HelperOutcome::End::timed_out;
  } else if (run.size > 0) {
    outcome.end = HelperOutcome::End::told;
    outcome.size = run.size - 1;
  } else {
    outcome.end = HelperOutcome::End::said_nothing;
    if (run.used == run.capacity) std::strcpy(outcome.reason, "its line is too long");
  }
  return outcome;
}

void end_supervisor(HelperRun& run, Room& room, Pages& line, pid_t supervisor, bool at_once) {
  bool gone = false;
  const auto is_over = [&] { return gone = gone || is_gone(supervisor); };
  if (at_once || !comes_true(is_over)) {
    Held held(run.killing);
    if (run.helper != 0) kill_helper(run);
  }
  if (comes_true(is_over)) return;
  left_behind.store(supervisor);
  if (run.phase.load(std::memory_order_acquire) != HelperRun::over) line.release();
  room.release();
}

HelperOutcome not_started(const char* reason) {
  HelperOutcome outcome;
  std::strncpy(outcome.reason, reason, sizeof outcome.reason - 1);
  return outcome;
}

HelperOutcome not_started(int error) {
  HelperOutcome outcome;
  error_text(error, outcome.reason, sizeof outcome.reason);
  return outcome;
}

void explain_silence(const HelperRun& run, HelperOutcome& outcome) {
  if (!run.ended.load(std::memory_order_acquire)) return;
  const bool exited = WIFEXITED(run.status);
  if (exited) outcome.exit_status = WEXITSTATUS(run.status);
  numbered_text(exited ? "it ended with status " : "it was ended by signal ",
                exited ? WEXITSTATUS(run.status) : WTERMSIG(run.status), outcome.reason, sizeof outcome.reason);
}

}  // namespace

HelperOutcome run_helper(const HelperCommand& command, Pages& line) {
  const std::uint64_t until_ns = monotonic_ns() + command.longest_wait_ns;
  const pid_t before = left_behind.load();
  if (before != 0 && !is_gone(before)) return not_started("the one before it has not ended");
  left_behind.store(0);
  if (children_go_elsewhere()) return not_started("children go into another pid namespace");
  Room room;
  if (!room) return not_started(errno);
  HelperRun& run = *new (room.run()) HelperRun;
  run.command = &command;
  run.host = syscall(SYS_getpid);
  run.helper_stack = room.helper_stack();
  run.line = line.begin();
  run.capacity = line.size();
  const pid_t supervisor = start_supervisor(run, room);
  if (supervisor < 0) return not_started(errno);
  HelperOutcome outcome = listen(run, until_ns);
  end_supervisor(run, room, line, supervisor, outcome.end == HelperOutcome::End::timed_out);
  if (run.error != 0) return not_started(run.error);
  if (outcome.end == HelperOutcome::End::said_nothing && outcome.reason[0] == '\0') explain_silence(run, outcome);
  return outcome;
}

}  // namespace gpumem
