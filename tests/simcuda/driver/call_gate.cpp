// SPDX-License-Identifier: Apache-2.0
#include "driver/call_gate.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "driver/context.h"
#include "driver/machine.h"

namespace simcuda {
namespace {

enum class process_state { fresh, started, forked, exiting };

std::atomic<process_state> process = process_state::fresh;

thread_local const char* running = nullptr;  // the call that this thread is in
thread_local bool runs_host_functions = false;

const char* forbidden_place() {
  if (runs_host_functions) return "from a host function";
  switch (process.load(std::memory_order_relaxed)) {
    case process_state::exiting: return "after exit began";
    case process_state::forked: return "in a forked child";
    default: return running ? "inside" : nullptr;
  }
}

status check(gate needed) {
  if (needed == gate::always) return status::success;
  switch (process.load(std::memory_order_relaxed)) {
    case process_state::exiting: return status::deinitialized;
    case process_state::forked: return status::not_initialized;
    case process_state::fresh: return needed == gate::process ? status::success : status::not_initialized;
    case process_state::started: break;
  }
  return needed == gate::current ? current_context_status() : status::success;
}

}  // namespace

call_site::call_site(const char* name) : name_(name), rules_(machine::instance().rules_for(name)) {}

status call_site::admit(gate needed) {
  auto answer = status::success;
  for (armed_rule* rule : rules_) {
    if (!rule->applies_now()) continue;
    const auto& wanted = rule->wanted();
    if (wanted.delay_ms) std::this_thread::sleep_for(std::chrono::milliseconds(wanted.delay_ms));
    if (wanted.free_falls_by) {
      const locked_machine sim;
      if (device* poorer = sim->find_device(wanted.device)) poorer->lose(wanted.free_falls_by);
    }
    if (!wanted.log.empty()) machine::instance().log.add(wanted.log);
    // The rules after it count this call, too.
    if (answer == status::success) answer = static_cast<status>(wanted.code);
  }
  return answer == status::success ? check(needed) : answer;
}

strict_watch::strict_watch(const call_site& site, gate needed) {
  if (needed == gate::always || !machine::instance().settings.strict) return;
  if (const char* place = forbidden_place()) {
    std::fprintf(stderr, "simcuda: strict: %s called %s%s%s\n", site.name(), place, running ? " " : "",
                 running ? running : "");
    std::abort();
  }
  running = site.name();
  counts_ = true;
}

strict_watch::~strict_watch() {
  if (counts_) running = nullptr;
}

void mark_host_function_thread() { runs_host_functions = true; }

status not_simulated(call_site& site) {
  return enter(site, gate::process, [&site] {
    trace::line("%s is not simulated", site.name());
    return status::not_supported;
  });
}

void mark_process_started() {
  static std::once_flag registered;
  std::call_once(registered, [] {
    // Handlers run in reverse order: objects built before cuInit find the driver gone, as with the real one.
    std::atexit([] { process = process_state::exiting; });
    pthread_atfork(nullptr, nullptr, [] { process = process_state::forked; });
  });
  process = process_state::started;
}

}  // namespace simcuda
