#include "analyze/folded_frames.hpp"

#include <fnmatch.h>

#include <string>

#include "schema.hpp"

namespace gpumem {
namespace {

struct module_rule {
  const char* pattern;  // of the file name; of the whole path where the pattern has a slash
  frame_owner owner;
};

constexpr module_rule module_rules[] = {
    {"libcuda.so*", frame_owner::cuda},         {"libcudart.so*", frame_owner::cuda},
    {"libcudart-*.so*", frame_owner::cuda},     {"libnvidia-*.so*", frame_owner::cuda},
    {"*/cuda/bindings/*", frame_owner::cuda},   {"libc.so*", frame_owner::language},
    {"libc-2.*.so", frame_owner::language},     {"libm.so*", frame_owner::language},
    {"libpthread*.so*", frame_owner::language}, {"libdl*.so*", frame_owner::language},
    {"ld-linux*.so*", frame_owner::language},   {"libstdc++.so*", frame_owner::language},
    {"libc++.so*", frame_owner::language},      {"libc++abi.so*", frame_owner::language},
    {"libgcc_s.so*", frame_owner::language},    {"python", frame_owner::interpreter},
    {"python[23]*", frame_owner::interpreter},  {"libpython*.so*", frame_owner::interpreter},
    {"libffi.so*", frame_owner::interpreter},   {"_ctypes.*.so", frame_owner::interpreter},
    {"_ctypes.so", frame_owner::interpreter},
};

struct function_rule {
  std::string_view prefix;
  frame_owner owner;
  bool only_with_static_runtime;
};

constexpr function_rule function_rules[] = {
    {"cuda", frame_owner::cuda, true},
    {"__cuda", frame_owner::cuda, true},
    {"cudart::", frame_owner::cuda, true},
    {"libcudart_static_", frame_owner::cuda, true},
    {"_start", frame_owner::language, false},
    {"__libc_start", frame_owner::language, false},
    {"__libc_csu", frame_owner::language, false},
    {"std::", frame_owner::language, false},
    {"__gnu_cxx::", frame_owner::language, false},
    {"void std::", frame_owner::language, false},
    {"operator new", frame_owner::language, false},
};

}  // namespace

frame_owner owner_of_module(std::string_view path, std::string_view role) {
  if (role == schema::role::driver || role == schema::role::runtime) return frame_owner::cuda;
  const std::string whole(path);
  const std::string name = whole.substr(whole.rfind('/') + 1);
  for (const auto& rule : module_rules) {
    const bool is_path = std::string_view(rule.pattern).find('/') != std::string_view::npos;
    if (::fnmatch(rule.pattern, (is_path ? whole : name).c_str(), 0) == 0) return rule.owner;
  }
  return frame_owner::user;
}

frame_owner owner_of_function(frame_owner module_owner, std::string_view role, std::string_view function) {
  if (module_owner != frame_owner::user) return module_owner;
  const bool has_static_runtime = role == schema::role::static_runtime;
  for (const auto& rule : function_rules) {
    if (function.starts_with(rule.prefix) && (has_static_runtime || !rule.only_with_static_runtime)) return rule.owner;
  }
  return frame_owner::user;
}

}  // namespace gpumem
