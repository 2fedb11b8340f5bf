// The processes that a helper is run by: a supervisor, which is a process in the same memory, and what it starts.
//
// Nothing here but system calls, on a thread pointer that has no more behind it than errno: none of the program's
// locks, no thread-local variable, nothing that a sanitizer or another library watches.
#pragma once

#include <atomic>

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "forensics/helper_process.hpp"

// clone() by a name that nobody wraps: what ThreadSanitizer's does in the child needs a thread of its own.
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace gpumem {

// What the three share: the calling thread, the supervisor, and the helper until it has become another program.
struct HelperRun {
  // A futex, which is woken when it comes to `over`: also by the kernel, whatever ends the supervisor. Until then the
  // supervisor writes to `line`.
  enum Phase : int { over, listening, starting };
  std::atomic<int> phase{starting};

  const HelperCommand* command = nullptr;
  long host = 0, supervisor = 0;
  char* helper_stack = nullptr;
  char* line = nullptr;
  std::size_t capacity = 0;
  std::size_t used = 0;            // of `line`: as far as it was read
  std::size_t size = 0;            // of the line that ends there, with its end; 0: none does
  std::atomic_flag killing;        // held while `helper` is killed, or given back to the kernel
  pid_t helper = 0;                // its number, as long as that can be no other's
  std::atomic<bool> ended{false};  // then `status` is there
  int status = 0, error = 0;
};

class Held {
 public:
  explicit Held(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) syscall(SYS_sched_yield);
  }
  ~Held() { flag_.clear(std::memory_order_release); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  std::atomic_flag& flag_;
};

// The supervisor's main function: starts the helper, listens to it, and ends when nobody is left that was started for
// it. To be cloned with a table of descriptors of its own, and CLONE_CHILD_CLEARTID on the phase.
int supervise(void* run);

// With `killing` held and `helper` set.
void kill_helper(HelperRun& run);

}  // namespace gpumem
