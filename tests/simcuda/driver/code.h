// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "driver/handles.h"
#include "driver/types.h"

namespace simcuda {

class device;

struct function {
  function(code_module* owner, std::string name) : owner(owner), name(std::move(name)) {}
  code_module* owner;
  std::string name;
  std::map<int, int> attributes;
};

/// Code loaded into one context. Any image is accepted, and every name is found in it.
struct code_module {
  explicit code_module(context* made_in, library* from) : made_in(made_in), from(from) {}
  context* made_in;
  library* from;  // nullptr: loaded by itself
  std::map<std::string, function*, std::less<>> functions;
  std::map<std::string, device_ptr, std::less<>> globals;
};

struct kernel {
  kernel(library* owner, std::string name) : owner(owner), name(std::move(name)) {}
  library* owner;
  std::string name;
  std::map<int, int> attributes;
};

/// Code of no context; it becomes a module of a context at first use there.
struct library {
  std::map<std::string, kernel*, std::less<>> kernels;
  std::map<context*, code_module*> modules;
};

/// Modules, libraries and what is in them. Guarded by machine::mutex.
class code_store {
 public:
  /// Charges the script's module_bytes: 2 when they do not fit.
  status load(code_module*& out, library* from = nullptr);
  void unload(code_module* gone);
  void unload(library* gone);
  void unload_context(const context* gone);

  library* add_library() { return libraries_.create(); }
  /// The library's module in the current context, loaded when it is not there yet.
  status materialize(library* from, code_module*& out);

  function* find_function(code_module* in, const char* name);
  kernel* find_kernel(library* in, const char* name);
  /// The address of a variable; made at the first request, since an image's own list of variables is not read.
  status find_global(code_module* in, const char* name, bool managed, device_ptr& address, std::size_t& bytes);

  bool contains(const code_module* handle) const { return modules_.contains(handle); }
  bool contains(const library* handle) const { return libraries_.contains(handle); }
  bool contains(const function* handle) const { return functions_.contains(handle); }
  bool contains(const kernel* handle) const { return kernels_.contains(handle); }

  static constexpr std::size_t global_bytes = std::size_t{1} << 20;

 private:
  handle_table<code_module> modules_;
  handle_table<library> libraries_;
  handle_table<function> functions_;
  handle_table<kernel> kernels_;
};

}  // namespace simcuda
