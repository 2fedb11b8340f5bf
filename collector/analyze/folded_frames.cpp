#include "analyze/folded_frames.hpp"

#include <fnmatch.h>

#include <string>

#include "schema.hpp"

namespace gpumem {
namespace {

struct ModuleRule {
  const char* pattern;  // of the file name; of the whole path where the pattern has a slash
  FrameOwner owner;
};

constexpr ModuleRule module_rules[] = {
    {"libcuda.so*", FrameOwner::cuda},         {"libcudart.so*", FrameOwner::cuda},
    {"libcudart-*.so*", FrameOwner::cuda},     {"libnvidia-*.so*", FrameOwner::cuda},
    {"*/cuda/bindings/*", FrameOwner::cuda},   {"libc.so*", FrameOwner::language},
    {"libc-2.*.so", FrameOwner::language},     {"libm.so*", FrameOwner::language},
    {"libpthread*.so*", FrameOwner::language}, {"libdl*.so*", FrameOwner::language},
    {"ld-linux*.so*", FrameOwner::language},   {"libstdc++.so*", FrameOwner::language},
    {"libc++.so*", FrameOwner::language},      {"libc++abi.so*", FrameOwner::language},
    {"libgcc_s.so*", FrameOwner::language},    {"python", FrameOwner::interpreter},
    {"python[23]*", FrameOwner::interpreter},  {"libpython*.so*", FrameOwner::interpreter},
    {"libffi.so*", FrameOwner::interpreter},   {"_ctypes.*.so", FrameOwner::interpreter},
    {"_ctypes.so", FrameOwner::interpreter},
};

struct FunctionRule {
  std::string_view prefix;
  FrameOwner owner;
  bool only_with_static_runtime;
};

constexpr FunctionRule function_rules[] = {
    {"cuda", FrameOwner::cuda, true},
    {"__cuda", FrameOwner::cuda, true},
    {"cudart::", FrameOwner::cuda, true},
    {"libcudart_static_", FrameOwner::cuda, true},
    {"_start", FrameOwner::language, false},
    {"__libc_start", FrameOwner::language, false},
    {"__libc_csu", FrameOwner::language, false},
    {"std::", FrameOwner::language, false},
    {"__gnu_cxx::", FrameOwner::language, false},
    {"void std::", FrameOwner::language, false},
    {"operator new", FrameOwner::language, false},
};

// A library that passes CUDA's functions on, as TensorFlow's does, has functions of their names. Names of C++ show
// their parameters.
bool is_name_of_cuda(std::string_view function) {
  for (const std::string_view prefix : {"cuda", "cu"}) {
    if (!function.starts_with(prefix) || function.size() == prefix.size()) continue;
    const char next = function[prefix.size()];
    if (next >= 'A' && next <= 'Z') return function.find('(') == std::string_view::npos;
  }
  return false;
}

}  // namespace

FrameOwner owner_of_module(std::string_view path, std::string_view role) {
  if (role == schema::role::driver || role == schema::role::runtime) return FrameOwner::cuda;
  const std::string whole(path);
  const std::string name = whole.substr(whole.rfind('/') + 1);
  for (const auto& rule : module_rules) {
    const bool is_path = std::string_view(rule.pattern).find('/') != std::string_view::npos;
    if (::fnmatch(rule.pattern, (is_path ? whole : name).c_str(), 0) == 0) return rule.owner;
  }
  return FrameOwner::user;
}

FrameOwner owner_of_function(FrameOwner module_owner, std::string_view role, std::string_view function) {
  if (module_owner != FrameOwner::user) return module_owner;
  if (is_name_of_cuda(function)) return FrameOwner::cuda;
  const bool has_static_runtime = role == schema::role::static_runtime;
  for (const auto& rule : function_rules) {
    if (function.starts_with(rule.prefix) && (has_static_runtime || !rule.only_with_static_runtime)) return rule.owner;
  }
  return FrameOwner::user;
}

}  // namespace gpumem
