#include "session_lines.hpp"

#include "api/cuda_types.hpp"
#include "forensics/gpu_libraries.hpp"
#include "intercept/driver_queries.hpp"
#include "intercept/providers.hpp"
#include "intercept/runtimes.hpp"
#include "long_line.hpp"
#include "module_lines.hpp"
#include "process_line.hpp"
#include "session.hpp"
#include "stack_lines.hpp"

namespace gpumem {
namespace {

// The files that CUDA lives in are told as soon as they are known, and again once their part in it is.
void write_cuda_modules(Session& session) {
  write_providers(session);
  const unsigned runtimes = runtime_copy_count();
  const unsigned before = session.runtimes_written.exchange(runtimes, std::memory_order_relaxed);
  if (before == runtimes) return;
  session.modules.update();
  for (unsigned i = before; i < runtimes; ++i) write_module_again(session, runtime_copy(i).lo);
}

void take_stack(Session& session, CallRecord& record) {
  if (record.has_stack) return;
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

// Apart, so that its buffer is not on the stack while one is taken.
__attribute__((noinline)) bool write_event_line(Session& session, const EventRecord& record, std::uint32_t segment) {
  char buffer[1024];
  Line line(buffer, sizeof buffer);
  begin_event(line, session.stamp(), record);
  line.close();
  return session.write(line, Journal::Importance::ordinary, segment);
}

}  // namespace

void write_event(Session& session, EventRecord& record, bool with_stack) {
  write_cuda_modules(session);
  if (with_stack) take_stack(session, record);
  if (write_with_stack(session, record.stack,
                       [&](std::uint32_t segment) { return write_event_line(session, record, segment); }))
    session.events.fetch_add(1, std::memory_order_relaxed);
}

void write_start_of_cuda(Session& session, EventRecord& record) {
  write_cuda_modules(session);
  take_stack(session, record);
  const Stamp stamp = session.stamp();
  const bool written = write_with_stack(session, record.stack, [&](std::uint32_t segment) {
    LongLine line(session);
    begin_event(line, stamp, record);
    write_changed_environment(line, session.facts);
    line.close();
    return session.write(line, Journal::Importance::ordinary, segment);
  });
  if (written) session.events.fetch_add(1, std::memory_order_relaxed);
  session.start_of_cuda.api = record.api;
  session.start_of_cuda.ns = stamp.ns;
  session.start_of_cuda.stack = record.stack;
  session.start_of_cuda.known.store(true, std::memory_order_release);
}

void write_failure(Session& session, FailureRecord& record) {
  write_cuda_modules(session);
  take_stack(session, record);
  const Stamp stamp = session.stamp();
  const bool written = write_with_stack(session, record.stack, [&](std::uint32_t segment) {
    LongLine line(session);
    begin_failure(line, stamp, record);
    write_changed_environment(line, session.facts);
    line.close();
    return session.write(line, Journal::Importance::notable, segment);
  });
  if (written) session.failures.fetch_add(1, std::memory_order_relaxed);
  if (record.first) write_gpu_libraries(session);
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
  session.standing.add(line.view());
  session.write(line);
}

void write_gpu_libraries(Session& session) {
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
