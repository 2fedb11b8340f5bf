// One intercepted call while it runs, and the guard around it.
//
// The guard keeps the order that every wrapper has: what must be known before the real call, the real call, what is
// known after it. It makes calls that happen inside the shim's own work invisible, and shields the program from that
// work (own_work.hpp).
#pragma once

#include <cstdint>

#include "api/api_table.hpp"
#include "api/effect.hpp"
#include "track/contexts.hpp"
#include "track/live_table.hpp"

namespace gpumem {

// What a call that runs is known by to the calls inside it. Kept in memory of the thread's own: a call can be left by
// longjmp or with its stack, and then nothing on that stack may be looked at.
struct RunningCall {
  ApiId api = ApiId::none;
  Action action = Action::start;
  MemoryKind kind = MemoryKind::device;
  std::uint64_t address = 0;
  bool entry_written = false;
  const std::uint64_t* frame = nullptr;  // where on the stack its guard is, and what stands there while it runs
  std::uint64_t serial = 0;

  // The call inside this one that did the same thing, or the first one inside that failed.
  ApiId inner = ApiId::none;
  int inner_result = 0;
  int inner_device = no_device;
};

struct Call {
  ApiId api = ApiId::none;
  Effect effect;
  int result = 0;
  const void* caller = nullptr;  // return address of the wrapper
  std::uint64_t entered_ns = 0;  // set by the observer where it wants it
  bool entry_written = false;    // the observer has told of its entry

  RunningCall* outer = nullptr;   // the call of this thread that this one happens in
  ApiId outermost = ApiId::none;  // the one that the program made; itself if it is that one
  ApiId inner = ApiId::none;      // as in RunningCall, once it has returned
  int inner_result = 0;
  int inner_device = no_device;

  // What the observer took out of its tables before the call, to put back if it fails.
  LiveTable::Released released = LiveTable::Released::unknown;
  Block taken;
  Block* more_taken = nullptr;  // of a call that ends several, after the first
  std::size_t more_count = 0, more_capacity = 0;
  Context context;
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
  volatile std::uint64_t serial_ = 0;  // first: RunningCall::frame points here
  Call call_;
  unsigned depth_ = 0;  // its place among the thread's running calls, from 1; 0: not observed
};

// Whether this thread is in a call that the shim has seen begin.
bool inside_call();

// Whether the program switched the shim off, or the process must not be touched (secure execution).
bool interception_disabled();

// Calls of each function that have returned so far, in all threads. A forked child begins anew.
std::uint64_t call_count(ApiId api);
void forget_call_counts();

}  // namespace gpumem
