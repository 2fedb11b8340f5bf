#include "intercept/call.hpp"

#include <array>
#include <atomic>

#include <sys/auxv.h>

#include "api/cuda_types.hpp"
#include "api/settings.hpp"
#include "base/lazy.hpp"
#include "intercept/providers.hpp"
#include "intercept/runtimes.hpp"

namespace gpumem {
namespace {

struct ThreadCalls {
  Call* current;
  bool busy;
};
constinit thread_local ThreadCalls thread_calls{nullptr, false};

std::array<std::atomic<std::uint64_t>, api_count> counts;

class BusyWithOwnWork {
 public:
  BusyWithOwnWork() : saved_errno_(errno) { thread_calls.busy = true; }
  ~BusyWithOwnWork() {
    thread_calls.busy = false;
    errno = saved_errno_;
  }

 private:
  const int saved_errno_;
};

// A call that was left by longjmp or thread cancellation stays behind in `current`, deeper in the stack than any
// caller.
Call* living_outer_call(const void* here) {
  Call* outer = thread_calls.current;
  return static_cast<const void*>(outer) < here ? nullptr : outer;
}

// The real resolver has chosen the ABI; only the pointer is exchanged, by identity.
void swap_resolved(const Effect& effect, int result, const void* caller) {
  note_resolver_use(caller, effect.symbol, effect.version);
  void** out = static_cast<void**>(const_cast<void*>(effect.out));
  if (result != cuda_success || out == nullptr || *out == nullptr) return;
  void* redirected = redirect(*out, effect.symbol != nullptr ? find_api(effect.symbol) : ApiId::none);
  if (redirected == *out) return;
  *out = redirected;
  count_route_resolver();
}

}  // namespace

CallGuard::CallGuard(ApiId api, const Effect& effect, const void* caller) : caller_(caller) {
  if (thread_calls.busy || interception_disabled()) return;
  observed_ = true;
  call_.api = api;
  call_.effect = effect;
  call_.outer = living_outer_call(this);
  BusyWithOwnWork busy;
  observe_before(call_);
  thread_calls.current = &call_;
}

void CallGuard::finish(int result) {
  if (!observed_) return;
  BusyWithOwnWork busy;
  counts[index(call_.api)].fetch_add(1, std::memory_order_relaxed);
  thread_calls.current = call_.outer;
  if (call_.effect.action == Action::resolve) swap_resolved(call_.effect, result, caller_);
  call_.result = result;
  observe_after(call_);
}

bool interception_disabled() {
  static constinit Lazy<bool> disabled;
  return disabled.get([] { return settings().disable || getauxval(AT_SECURE) != 0; });
}

void forget_call_counts() {
  for (std::atomic<std::uint64_t>& count : counts) count.store(0, std::memory_order_relaxed);
}

std::uint64_t call_count(ApiId api) { return counts[index(api)].load(std::memory_order_relaxed); }

}  // namespace gpumem
