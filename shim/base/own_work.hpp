// Shields the program from the shim's own work on its thread, for as long as the object lives:
//
// * errno is put back,
// * cancellation of the thread waits (a thread that ends in the middle would leave locks behind),
// * no SIGPIPE, SIGXFSZ or SIGTTOU comes of what the shim writes, where signals are shielded too,
// * own_work_running() tells others on this thread, such as a signal handler that interrupts it.
#pragma once

#include <cstdint>

namespace gpumem {

bool own_work_running();

class OwnWork {
 public:
  OwnWork();
  ~OwnWork();
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;

 private:
  const int saved_errno_;
  const bool was_running_;
  int cancel_state_ = 0;
};

class SignalShield {
 public:
  SignalShield();
  ~SignalShield();
  SignalShield(const SignalShield&) = delete;
  SignalShield& operator=(const SignalShield&) = delete;

 private:
  std::uint64_t saved_mask_ = 0, pending_before_ = 0;
};

}  // namespace gpumem
