#include "analyze/runtimes.hpp"

#include <algorithm>

#include "analyze/error_codes.hpp"
#include "schema.hpp"

namespace gpumem {

std::string version_text(std::uint64_t version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string RuntimeLibrary::describe() const {
  const std::string name = version ? "cudart " + version_text(*version) : "cudart of unknown version";
  return is_static ? name + ", static, in " + path : name + " (" + path + ")";
}

std::vector<RuntimeLibrary> find_runtimes(const Modules& all) {
  std::vector<RuntimeLibrary> found;
  for (const auto& [id, module] : all) {
    const bool is_static = module.role == schema::role::static_runtime;
    if (!is_static && module.role != schema::role::runtime) continue;
    found.push_back({id, module.path.value_or("a file without name"), is_static, module.asks});
  }
  return found;
}

std::optional<RuntimeLibrary> runtime_of_failure(const Modules& all, const FailureRecord& failure,
                                                 const StackRecord* stack) {
  const auto runtimes = find_runtimes(all);
  if (stack) {
    for (const auto& frame : stack->frames) {
      const auto on_stack = std::find_if(runtimes.begin(), runtimes.end(),
                                         [&frame](const auto& runtime) { return runtime.module == frame.module; });
      if (on_stack != runtimes.end()) return *on_stack;
    }
  }
  if (!failure.api.starts_with("cuda")) return std::nullopt;
  const auto is_shared = [](const RuntimeLibrary& runtime) { return !runtime.is_static; };
  const auto shared = std::find_if(runtimes.begin(), runtimes.end(), is_shared);
  const bool is_only = std::count_if(runtimes.begin(), runtimes.end(), is_shared) == 1;
  return is_only ? std::optional(*shared) : std::nullopt;
}

std::int64_t deciding_code(const FailureRecord& failure, const Modules& all_modules) {
  constexpr std::uint64_t old_numbering_ends = 10010;  // CUDA 10.1
  if (failure.in_code && *failure.in_code != 0) return *failure.in_code;
  if (!failure.api.starts_with("cuda")) return failure.code;
  for (const auto& runtime : find_runtimes(all_modules)) {
    if (runtime.version && *runtime.version < old_numbering_ends) {
      return modern_code_of_old_runtime(failure.code).value_or(failure.code);
    }
  }
  return failure.code;
}

const ModuleRecord* driver_module(const Modules& all) {
  for (const auto& [_, module] : all) {
    if (module.role == schema::role::driver && module.path) return &module;
  }
  return nullptr;
}

std::optional<std::string> driver_library(const Modules& all) {
  const ModuleRecord* driver = driver_module(all);
  return driver ? driver->path : std::nullopt;
}

}  // namespace gpumem
