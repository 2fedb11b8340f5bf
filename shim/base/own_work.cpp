#include "base/own_work.hpp"

#include <cerrno>
#include <csignal>

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace gpumem {
namespace {

constinit thread_local bool running = false;

// The kernel's own signal sets: one bit per signal, from 1. glibc's functions for them have moved between versions.
constexpr std::uint64_t bit(int signal) { return std::uint64_t{1} << (signal - 1); }
constexpr std::uint64_t shielded = bit(SIGPIPE) | bit(SIGXFSZ) | bit(SIGTTOU);

}  // namespace

bool own_work_running() { return running; }

OwnWork::OwnWork() : saved_errno_(errno), was_running_(running) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
  running = true;
}

OwnWork::~OwnWork() {
  running = was_running_;
  pthread_setcancelstate(cancel_state_, nullptr);
  errno = saved_errno_;
}

SignalShield::SignalShield() {
  syscall(SYS_rt_sigpending, &pending_before_, sizeof pending_before_);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &shielded, &saved_mask_, sizeof saved_mask_);
}

SignalShield::~SignalShield() {
  const std::uint64_t ours = shielded & ~pending_before_ & ~saved_mask_;
  const timespec at_once{0, 0};
  while (syscall(SYS_rt_sigtimedwait, &ours, nullptr, &at_once, sizeof ours) > 0) {
  }
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &saved_mask_, nullptr, sizeof saved_mask_);
}

}  // namespace gpumem
