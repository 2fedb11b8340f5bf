#include "session_lines.hpp"

#include <algorithm>

#include "api/cuda_types.hpp"
#include "api/settings.hpp"
#include "forensics/gpu_libraries.hpp"
#include "intercept/driver_queries.hpp"
#include "intercept/providers.hpp"
#include "intercept/real_dlsym.hpp"
#include "intercept/runtimes.hpp"
#include "journal/schema.hpp"
#include "process_line.hpp"
#include "session.hpp"
#include "stack/unwinder.hpp"

namespace gpumem {
namespace {

std::string_view role_of(const Module& module, int& asks) {
  RuntimeCopy copy;
  const bool probed = runtime_copy_at(module.lo, copy);
  if (probed) asks = copy.asks;
  LoadedObject object;
  if (find_object(module.lo, object)) {
    if (is_driver(object)) return schema::role::driver;
    if (is_runtime(object)) return schema::role::runtime;
  }
  return probed ? schema::role::static_runtime : std::string_view{};
}

void write_module_line(Session& session, const Module& module) {
  ModuleRecord record;
  record.id = module.number;
  record.path = module.path;
  record.build_id = module.build_id.data();
  record.build_id_size = module.build_id_size;
  record.base = module.base;
  record.lo = module.lo;
  record.hi = module.hi;
  record.role = role_of(module, record.asks);
  // A path can be 4 KiB, and each of its bytes six characters; longer ones are lost and counted.
  char buffer[8192];
  Line line(buffer, sizeof buffer);
  write_module(line, session.stamp(), record);
  session.write(line);
}

void write_module_once(Session& session, Module& module) {
  if (!module.written.exchange(true, std::memory_order_relaxed)) write_module_line(session, module);
}

void write_module_again(Session& session, std::uintptr_t address) {
  Module* module = session.modules.find(address);
  if (module == nullptr) return;
  module->written.store(true, std::memory_order_relaxed);
  write_module_line(session, *module);
}

// The files that CUDA lives in are told as soon as they are known, and again once their part in it is.
void write_cuda_modules(Session& session) {
  write_providers(session);
  const unsigned runtimes = runtime_copy_count();
  const unsigned before = session.runtimes_written.exchange(runtimes, std::memory_order_relaxed);
  if (before == runtimes) return;
  session.modules.update();
  for (unsigned i = before; i < runtimes; ++i) write_module_again(session, runtime_copy(i).lo);
}

bool write_stack_line(Session& session, const Stack& stack, bool cut) {
  for (std::uint32_t i = 0; i < stack.depth; ++i)
    if (Module* module = session.modules.find(reinterpret_cast<std::uintptr_t>(stack.frames[i])))
      write_module_once(session, *module);
  const Stamp stamp = session.stamp();
  LockGuard guard(session.stack_line_lock);
  Line line(session.stack_line, sizeof session.stack_line);
  line.open(schema::line::stack, stamp.ns, stamp.tid);
  line.number("id", stack.number);
  line.key("f");
  line.put("[");
  for (std::uint32_t i = 0; i < stack.depth; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(stack.frames[i]);
    const Module* module = session.modules.find(address);
    line.separate();
    line.frame(module != nullptr ? module->number : 0, module != nullptr ? address - module->base : address);
  }
  line.put("]");
  if (cut) line.truth("cut", true);
  line.close();
  return session.write(line);
}

// Changes when a library has really gone: most dlcloses only drop a reference.
std::uint32_t load_generation() {
  static constinit std::atomic<unsigned> seen_unloads{0};
  static constinit std::atomic<std::uint32_t> removed{0};
  const unsigned unloads = unload_count();
  if (seen_unloads.load(std::memory_order_acquire) != unloads) {
    removed.store(static_cast<std::uint32_t>(load_counters().removed), std::memory_order_relaxed);
    seen_unloads.store(unloads, std::memory_order_release);
  }
  return removed.load(std::memory_order_relaxed);
}

// Where Boost says otherwise, Boost is right. Not inlined, because it takes much stack and is seldom wanted.
__attribute__((noinline)) void verify(Session& session, const StackRequest& request, StackCapture& captured) {
  StackCapture reference;
  capture_with_boost(request.capacity, reference);
  session.stacks_checked.fetch_add(1, std::memory_order_relaxed);
  if (std::equal(captured.addresses, captured.addresses + captured.depth, reference.addresses,
                 reference.addresses + reference.depth))
    return;
  session.stacks_wrong.fetch_add(1, std::memory_order_relaxed);
  capture_with_boost(request.capacity, captured);
}

void capture_here(Session& session, const StackRequest& request, StackCapture& captured) {
  capture_stack(request, captured);
  session.stacks_by[static_cast<unsigned>(captured.source)].fetch_add(1, std::memory_order_relaxed);
  if (settings().verify_stacks && captured.source != StackSource::fallback) verify(session, request, captured);
}

// The calling thread's stack, written to the journal before anything refers to it.
std::uint32_t stack_here(Session& session) {
  const unsigned depth = settings().stack_depth;
  if (depth == 0) return 0;
  const UnwinderChoice unwinder = settings().unwinder.choice;
  StackRequest request{.capacity = depth < max_frames ? depth + 1 : max_frames};
  // What is known about a library that is going right now may not hold for what comes in its place.
  request.by_rules = unwinder != UnwinderChoice::boost && !unload_running();
  request.by_memo = unwinder == UnwinderChoice::automatic;
  request.generation = load_generation();
  StackCapture captured;
  capture_here(session, request, captured);
  const bool cut = captured.depth > depth;
  Stack* stack = captured.note != nullptr ? static_cast<Stack*>(*captured.note) : nullptr;
  if (stack == nullptr)
    stack = session.stacks.intern(captured.addresses, cut ? depth : captured.depth, request.generation);
  if (captured.note != nullptr) *captured.note = stack;
  if (stack == nullptr) {
    session.lost_stacks.fetch_add(1, std::memory_order_relaxed);
    return 0;
  }
  // Two threads may both find it unwritten: twice is harmless, a reference to nothing is not.
  if (!stack->written.load(std::memory_order_acquire)) {
    session.modules.update();
    if (write_stack_line(session, *stack, cut)) stack->written.store(true, std::memory_order_release);
  }
  return stack->number;
}

void take_stack(Session& session, CallRecord& record) {
  record.stack = stack_here(session);
  record.has_stack = true;
}

}  // namespace

void write_providers(Session& session) {
  const unsigned now = provider_serials();
  const unsigned before = session.providers_written.exchange(now, std::memory_order_relaxed);
  if (before == now) return;
  session.modules.update();
  for (unsigned serial = before + 1; serial <= now; ++serial)
    if (const Provider* known = provider_with_serial(serial)) write_module_again(session, known->object.lo);
}

namespace {

// A line that the changed environment may be added to.
using LongLine = char[8 * 1024];

void append_event(Session& session, const Line& line) {
  if (session.write(line)) session.events.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void write_event(Session& session, EventRecord& record, bool with_stack) {
  write_cuda_modules(session);
  if (with_stack) take_stack(session, record);
  char buffer[1024];
  Line line(buffer, sizeof buffer);
  begin_event(line, session.stamp(), record);
  line.close();
  append_event(session, line);
}

void write_start_of_cuda(Session& session, EventRecord& record) {
  write_cuda_modules(session);
  take_stack(session, record);
  const Stamp stamp = session.stamp();
  LongLine buffer;
  Line line(buffer, sizeof buffer);
  begin_event(line, stamp, record);
  write_changed_environment(line, session.facts);
  line.close();
  append_event(session, line);
  session.start_of_cuda.api = record.api;
  session.start_of_cuda.ns = stamp.ns;
  session.start_of_cuda.stack = record.stack;
  session.start_of_cuda.known.store(true, std::memory_order_release);
}

void write_failure(Session& session, FailureRecord& record) {
  write_cuda_modules(session);
  take_stack(session, record);
  LongLine buffer;
  Line line(buffer, sizeof buffer);
  begin_failure(line, session.stamp(), record);
  write_changed_environment(line, session.facts);
  line.close();
  if (session.write(line, Journal::Importance::notable)) session.failures.fetch_add(1, std::memory_order_relaxed);
  write_gpu_libraries(session);
  if (record.code != cuda_not_permitted) write_all_devices(session);
}

void write_sample(Session& session, const SampleRecord& record) {
  char buffer[512];
  Line line(buffer, sizeof buffer);
  write_sample(line, session.stamp(), record);
  session.write(line);
}

void write_device_once(Session& session, int ordinal) {
  if (ordinal < 0 || ordinal >= Session::tracked_devices || !session.driver_usable()) return;
  const std::uint64_t bit = std::uint64_t{1} << ordinal;
  if (session.devices_written.fetch_or(bit, std::memory_order_relaxed) & bit) return;
  DeviceIdentity identity;
  if (!device_identity(ordinal, identity)) return;
  char buffer[2048];
  Line line(buffer, sizeof buffer);
  write_device(line, session.stamp(),
               {ordinal, identity.uuid, identity.pci_bus_id, identity.name, identity.total, identity.compute_mode,
                identity.capability});
  session.write(line);
}

void write_gpu_libraries(Session& session) {
  if (session.libraries_written.exchange(true, std::memory_order_relaxed)) return;
  session.modules.update();
  // Only places are taken along under the loader's lock: the lines need locks of ours.
  constexpr std::size_t most = 256;
  std::uintptr_t places[most];
  std::size_t looked_at = 0, count = most;
  while (count == most) {
    count = 0;
    std::size_t seen = 0;
    any_object([&](const LoadedObject& object) {
      if (seen++ < looked_at) return false;
      ++looked_at;
      if (is_gpu_library(object.path)) places[count++] = object.lo;
      return count == most;
    });
    for (std::size_t i = 0; i < count; ++i)
      if (Module* module = session.modules.find(places[i])) write_module_once(session, *module);
  }
}

void write_all_devices(Session& session) {
  const bool has_started =
      session.initialized.load(std::memory_order_relaxed) || session.context_seen.load(std::memory_order_relaxed);
  int count = 0;
  if (!has_started || !session.driver_usable() || session.devices_counted.exchange(true, std::memory_order_relaxed) ||
      !device_count(count))
    return;
  for (int ordinal = 0; ordinal < count && ordinal < Session::tracked_devices; ++ordinal)
    write_device_once(session, ordinal);
}

}  // namespace gpumem
