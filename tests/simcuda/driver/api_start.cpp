// SPDX-License-Identifier: Apache-2.0
// Start, error names, the resolver.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "common/error_codes.h"
#include "driver/api.h"
#include "driver/call_gate.h"
#include "driver/cuda_use.h"
#include "driver/machine.h"
#include "driver/resolver.h"

namespace simcuda::api {

namespace {

/// Once, whatever cuInit answers then, and without a word where there is nothing to load or to call (measured).
void load_injection() {
  static std::atomic<bool> loaded{false};
  const char* file = std::getenv("CUDA_INJECTION64_PATH");
  if (!file || loaded.exchange(true)) return;
  void* library = dlopen(file, RTLD_NOW);
  if (void* found = library ? dlsym(library, "InitializeInjection") : nullptr) reinterpret_cast<int (*)()>(found)();
}

}  // namespace

status cuInit(unsigned flags) {
  if (flags) return status::invalid_value;
  load_injection();
  const locked_machine sim;
  if (!sim->script_accepted() || !sim->find_devices()) return status::unknown;
  if (sim->devices.empty()) return status::no_device;
  mark_process_started();
  return status::success;
}

status cuDriverGetVersion(int* version) {
  if (!version) return status::invalid_value;
  *version = machine::instance().settings.driver_version;
  return status::success;
}

status cuGetErrorName(status code, const char** name) {
  const error_code* known = find_error_code(static_cast<int>(code));
  const bool named = known && *known->driver_name;
  if (!name) return status::invalid_value;
  *name = named ? known->driver_name : nullptr;
  return named ? status::success : status::invalid_value;
}

status cuGetErrorString(status code, const char** text) {
  const error_code* known = find_error_code(static_cast<int>(code));
  const bool named = known && *known->driver_name;
  if (!text) return status::invalid_value;
  *text = named ? known->text : nullptr;
  return named ? status::success : status::invalid_value;
}

namespace {

/// Both forms of cuGetProcAddress; they differ in how they tell that nothing was found.
status look_up(const char* name, void** entry, int version, std::uint64_t flags, lookup& answer) {
  if (!name || !entry || flags & ~lookup_flags) return status::invalid_value;
  answer = resolve(name, version, flags, machine::instance().settings.driver_version);
  trace::line("lookup %s %d %d -> %s", *name ? name : "\"\"", version, static_cast<int>(flags),
              answer.entry ? answer.export_name : "nothing");
  return status::success;
}

}  // namespace

status cuGetProcAddress(const char* name, void** entry, int version, std::uint64_t flags) {
  lookup answer{};
  const status result = look_up(name, entry, version, flags, answer);
  if (result != status::success) return result;
  if (!answer.entry) return status::not_found;  // and *entry stays as it was (measured)
  *entry = answer.entry;
  return status::success;
}

status cuGetProcAddress_v2(const char* name, void** entry, int version, std::uint64_t flags, int* found) {
  lookup answer{};
  const status result = look_up(name, entry, version, flags, answer);
  if (result != status::success) return result;
  *entry = answer.entry;
  if (found) *found = static_cast<int>(answer.result);
  return status::success;
}

// Private tables are not simulated: the genuine runtime checks through one of them that the driver is genuine.
status cuGetExportTable(const void** table, const uuid* id) {
  if (!table || !id) return status::invalid_value;
  if (std::memcmp(id, &cuda_accounts_id, sizeof *id) != 0) return status::not_found;
  *table = &accounts_of_devices;
  return status::success;
}

status cuLogsCurrent(unsigned* iterator, unsigned flags) {
  if (!iterator || flags) return status::invalid_value;
  *iterator = machine::instance().log.end();
  return status::success;
}

status cuLogsDumpToMemory(unsigned* iterator, char* buffer, std::size_t* size, unsigned flags) {
  if (!buffer || !size || flags) return status::invalid_value;
  return machine::instance().log.dump(iterator, buffer, *size) ? status::success : status::invalid_value;
}

status cuModuleGetLoadingMode(int* mode) {
  if (!mode) return status::invalid_value;
  constexpr int lazy = 2;
  *mode = lazy;
  return status::success;
}

status cuProfilerStart() { return status::success; }
status cuProfilerStop() { return status::success; }

}  // namespace simcuda::api
