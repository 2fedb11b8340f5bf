// The CUDA libraries of a process: which runtimes, of which version, shared or static, over which driver library.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/records.hpp"

namespace gpumem {

using modules = std::map<std::uint64_t, module_record>;

struct runtime_library {
  std::uint64_t module = 0;
  std::string path;
  bool is_static = false;
  std::optional<std::uint64_t> version;  // 13000 = 13.0

  // "cudart 13.0, static, in /path/a.out" or "cudart 12.4 (/path/libcudart.so.12)"
  std::string describe() const;
};

std::vector<runtime_library> find_runtimes(const modules& all);

// The first runtime on a stack, looking from the failing call outwards; the only one of the process where the stack
// shows none; else nothing.
std::optional<runtime_library> runtime_on_stack(const modules& all, const stack_record* stack);

// Path of libcuda, where the process had loaded one.
std::optional<std::string> driver_library(const modules& all);

// 13000 -> "13.0"
std::string version_text(std::uint64_t version);

}  // namespace gpumem
