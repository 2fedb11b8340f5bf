// The CUDA libraries of a process: which runtimes, of which version, shared or static, over which driver library.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/records.hpp"

namespace gpumem {

using Modules = std::map<std::uint64_t, ModuleRecord>;

struct RuntimeLibrary {
  std::uint64_t module = 0;
  std::string path;
  bool is_static = false;
  std::optional<std::uint64_t> version;  // 13000 = 13.0

  // "cudart 13.0, static, in /path/a.out" or "cudart 12.4 (/path/libcudart.so.12)"
  std::string describe() const;
};

std::vector<RuntimeLibrary> find_runtimes(const Modules& all);

// The runtime that a failing call went through: the first one on its stack. A runtime function was called in a shared
// runtime, which lies beyond the end of the stack; then it is the process's only one. Nothing where that is not
// certain.
std::optional<RuntimeLibrary> runtime_of_failure(const Modules& all, const FailureRecord& failure,
                                                 const StackRecord* stack);

// The number that decides, in today's numbering: what the driver function returned if it failed, else what the call
// did.
std::int64_t deciding_code(const FailureRecord& failure, const Modules& all_modules);

// libcuda, where the process had loaded one; else null.
const ModuleRecord* driver_module(const Modules& all);

// Its path, where the process had loaded one.
std::optional<std::string> driver_library(const Modules& all);

// 13000 -> "13.0"
std::string version_text(std::uint64_t version);

}  // namespace gpumem
