#include "intercept/call.hpp"

#include <array>
#include <atomic>

#include <sys/auxv.h>

#include "api/cuda_types.hpp"
#include "api/settings.hpp"
#include "base/lazy.hpp"
#include "base/own_work.hpp"
#include "base/readable.hpp"
#include "intercept/providers.hpp"
#include "intercept/routes.hpp"
#include "intercept/runtimes.hpp"

namespace gpumem {
namespace {

constexpr unsigned deepest = 8;

struct RunningCalls {
  RunningCall calls[deepest];
  unsigned depth = 0;
  std::uint64_t last_serial = 0x6770756d656d0000;  // not a value that stacks are full of
};
constinit thread_local RunningCalls running;

std::array<std::atomic<std::uint64_t>, api_count> counts;

bool still_runs(const RunningCall& call, const void* here) {
  return static_cast<const void*>(call.frame) > here && is_readable(reinterpret_cast<std::uintptr_t>(call.frame)) &&
         *call.frame == call.serial;
}

// Forgets calls that were left without returning: their frames have gone, or have other contents.
void forget_abandoned(const void* here) {
  while (running.depth > 0 && !still_runs(running.calls[running.depth - 1], here)) --running.depth;
}

// The real resolver has chosen the ABI; only the pointer is exchanged, by identity. Where it did not come to reading
// the name, nor do we.
void swap_resolved(const Effect& effect, int result, const void* caller) {
  if (result != cuda_success && result != cuda_not_found) return;
  note_resolver_use(caller, effect.symbol, effect.version);
  void** out = static_cast<void**>(const_cast<void*>(effect.out));
  if (result != cuda_success || out == nullptr || *out == nullptr) return;
  void* redirected = redirect(*out, effect.symbol != nullptr ? find_api(effect.symbol) : ApiId::none);
  if (redirected == *out) return;
  *out = redirected;
  count_route(Route::resolver);
}

}  // namespace

CallGuard::CallGuard(ApiId api, const Effect& effect, const void* caller) {
  if (own_work_running() || interception_disabled()) return;
  OwnWork work;
  forget_abandoned(this);
  if (running.depth == deepest) return;
  call_.api = api;
  call_.effect = effect;
  call_.caller = caller;
  call_.outer = running.depth > 0 ? &running.calls[running.depth - 1] : nullptr;
  call_.outermost = running.depth > 0 ? running.calls[0].api : api;
  observe_before(call_);
  serial_ = ++running.last_serial;
  running.calls[running.depth] = {.api = api,
                                  .action = effect.action,
                                  .kind = effect.kind,
                                  .address = effect.address,
                                  .entry_written = call_.entry_written,
                                  .frame = const_cast<const std::uint64_t*>(&serial_),
                                  .serial = running.last_serial};
  depth_ = ++running.depth;
}

void CallGuard::finish(int result) {
  if (depth_ == 0) return;
  OwnWork work;
  counts[index(call_.api)].fetch_add(1, std::memory_order_relaxed);
  const RunningCall& self = running.calls[depth_ - 1];
  if (self.serial == serial_) {
    call_.inner = self.inner;
    call_.inner_result = self.inner_result;
    call_.inner_device = self.inner_device;
    running.depth = depth_ - 1;
  }
  serial_ = 0;
  call_.result = result;
  if (call_.effect.action == Action::resolve) swap_resolved(call_.effect, result, call_.caller);
  observe_after(call_);
}

bool inside_call() {
  forget_abandoned(__builtin_frame_address(0));
  return running.depth > 0;
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
