#include "coverage.hpp"

#include <algorithm>
#include <iterator>

#include "base/loaded_objects.hpp"
#include "base/loader_list.hpp"
#include "base/own_work.hpp"
#include "intercept/call.hpp"
#include "intercept/providers.hpp"
#include "intercept/routes.hpp"
#include "journal/schema.hpp"
#include "long_line.hpp"
#include "session.hpp"

namespace gpumem {
namespace {

void write_coverage(const CoverageRecord& record) {
  Session* current = session();
  if (current == nullptr) return;
  if (!record.seen) current->passed_by.store(record.when == schema::when::init || record.apart);
  const Stamp stamp = current->stamp();
  LongLine line(*current);
  write_coverage(line, stamp, record);
  current->write(line, Journal::Importance::essential);
}

// What became of the stacks' Python parts, where the process had a Python.
void write_python_coverage(const Session& session) {
  const auto count = [&session](PythonState state) {
    return session.python_stacks[static_cast<std::size_t>(state)].load(std::memory_order_relaxed);
  };
  const CoverageRecord record{.when = schema::when::end,
                              .seen = true,
                              .python_stacks = {.read = count(PythonState::read) + count(PythonState::cut),
                                                .none = count(PythonState::none),
                                                .finalizing = count(PythonState::finalizing),
                                                .refused = count(PythonState::refused),
                                                .declined = count(PythonState::declined)}};
  if (record.python_stacks.any()) write_coverage(record);
}

// One that the program opened later: what it was started with searches the global scope, where the shim is in front.
const char* driver_opened_later() {
  const char* path = nullptr;
  any_object([&](const LoadedObject& object) {
    if (is_driver(object) && !was_loaded_at_startup(object)) path = object.path;
    return path != nullptr;
  });
  return path;
}

bool any_look_up_seen() {
  return std::any_of(std::begin(all_routes), std::end(all_routes), [](Route route) { return routes_seen(route) != 0; });
}

}  // namespace

void check_coverage_at_end(bool had_session) {
  if (interception_disabled()) return;
  if (const char* path = path_in_other_namespace("libcuda.so")) {
    write_coverage({.when = schema::when::end, .apart = true, .library = path});
  } else if (const char* unseen = had_session || any_look_up_seen() ? nullptr : driver_opened_later()) {
    write_coverage({.when = schema::when::end, .library = unseen});
  }
  if (const Session* current = had_session ? session() : nullptr) write_python_coverage(*current);
}

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (!interception_disabled()) {
    const bool seen = inside_call();
    OwnWork work;
    LoadedObject caller;
    find_object(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)), caller);
    write_coverage({.when = schema::when::init, .seen = seen, .library = caller.path});
  }
  return 1;
}

}  // namespace gpumem
