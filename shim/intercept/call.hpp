// One intercepted call while it runs, and the guard around it.
//
// The guard keeps the order that every wrapper has: what must be known before the real call, the real call, what is
// known after it. It restores errno around the shim's own work, and makes calls that happen inside the shim's own work
// invisible.
#pragma once

#include <cerrno>
#include <cstdint>

#include "api/api_table.hpp"
#include "api/effect.hpp"
#include "track/contexts.hpp"
#include "track/live_table.hpp"

namespace gpumem {

struct Call {
  ApiId api = ApiId::none;
  Effect effect;
  int result = 0;
  Call* outer = nullptr;         // the call of this thread that this one happens in
  std::uint64_t entered_ns = 0;  // set by the observer where it wants it

  // The call inside this one that did the same thing, or the first one inside that failed.
  ApiId inner = ApiId::none;
  int inner_result = 0;

  // What the observer took out of its tables before the call, to put back if it fails.
  bool has_taken = false;
  Block taken;
  Context context;

  const Call& outermost() const {
    const Call* call = this;
    while (call->outer != nullptr) call = call->outer;
    return *call;
  }
};

// Implemented by the session. Both run outside every lock of ours and must not throw; CUDA calls that they make
// themselves are not observed.
void observe_before(Call& call);
void observe_after(Call& call);

class CallGuard {
 public:
  CallGuard(ApiId api, const Effect& effect, const void* caller);
  void finish(int result);

  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;

 private:
  Call call_;
  const void* caller_ = nullptr;
  bool observed_ = false;
};

// Whether the program switched the shim off, or the process must not be touched (secure execution).
bool interception_disabled();

// Calls of each function that have returned so far, in all threads. A forked child begins anew.
std::uint64_t call_count(ApiId api);
void forget_call_counts();

}  // namespace gpumem
