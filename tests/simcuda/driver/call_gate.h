// SPDX-License-Identifier: Apache-2.0
// What stands between an exported function and its body: the script's rules, the state of the process, the trace.
#pragma once

#include <pthread.h>

#include <utility>
#include <vector>

#include "common/trace.h"
#include "driver/types.h"

namespace simcuda {

class armed_rule;

/// What must hold before a body runs; each includes the ones before it.
enum class gate {
  always,   // nothing: works before cuInit, after exit and in a forked child
  process,  // the process is not exiting (else 4) and not forked from one that had called cuInit (else 3)
  started,  // cuInit succeeded (else 3)
  current,  // the thread has a current context (else 201) that is not destroyed (else 709)
};

/// One exported function, with the script's rules for it.
class call_site {
 public:
  explicit call_site(const char* name);

  const char* name() const noexcept { return name_; }

  /// Applies the rules (delays block here, outside any lock), then the gate. success: the body may run.
  status admit(gate needed);

 private:
  const char* name_;
  std::vector<armed_rule*> rules_;
};

/// In a strict script: aborts with one line when the call comes from where a real driver may hang or crash - a host
/// function, an exiting process, a forked child, or another call of the same thread. Functions behind `always` are
/// exempt, since they touch no state.
class strict_watch {
 public:
  strict_watch(const call_site& site, gate needed);
  ~strict_watch();
  strict_watch(const strict_watch&) = delete;
  strict_watch& operator=(const strict_watch&) = delete;

 private:
  bool counts_ = false;
};

/// The calling thread runs host functions from here on.
void mark_host_function_thread();

/// No call of the driver is a point where a thread can be cancelled.
class cancellation_off {
 public:
  cancellation_off() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~cancellation_off() { pthread_setcancelstate(before_, nullptr); }
  cancellation_off(const cancellation_off&) = delete;
  cancellation_off& operator=(const cancellation_off&) = delete;

 private:
  int before_ = 0;
};

template <class Body>
status enter(call_site& site, gate needed, Body&& body) {
  const cancellation_off guard;
  const strict_watch watch(site, needed);
  status result = site.admit(needed);
  if (result == status::success) result = std::forward<Body>(body)();
  trace::call(site.name(), result);
  return result;
}

/// The answer of every export without a body.
status not_simulated(call_site& site);

/// cuInit succeeded: the gates `started` and `current` open, until exit or fork.
void mark_process_started();

}  // namespace simcuda

/// One line of the generated list of default entries. Weak: a body of the same name replaces it at link time.
#define SIMCUDA_DEFAULT_ENTRY(name)                                             \
  extern "C" [[gnu::weak, gnu::visibility("default")]] simcuda::status name() { \
    static simcuda::call_site site{#name};                                      \
    return simcuda::not_simulated(site);                                        \
  }
