// What has been loaded since when: the part of loaded_objects.hpp that looks into no file.
#include <atomic>

#include "base/loaded_objects.hpp"
#include "base/loader_list.hpp"

namespace gpumem {
namespace {

constinit std::atomic<std::size_t> startup_objects{0};

}  // namespace

LoadCounters load_counters() {
  LoadCounters counters;
  walk_loader_list(
      [](dl_phdr_info* info, std::size_t, void* data) {
        *static_cast<LoadCounters*>(data) = {info->dlpi_adds, info->dlpi_subs};
        return 1;
      },
      &counters);
  return counters;
}

void remember_startup_objects() {
  std::size_t count = 0;
  any_object([&](const LoadedObject&) { return ++count, false; });
  startup_objects.store(count, std::memory_order_release);
}

bool was_loaded_at_startup(const LoadedObject& object) {
  const std::size_t count = startup_objects.load(std::memory_order_acquire);
  return count == 0 || object.number < count;
}

}  // namespace gpumem
