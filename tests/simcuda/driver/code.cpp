// SPDX-License-Identifier: Apache-2.0
#include "driver/code.h"

#include <vector>

#include "driver/device.h"
#include "driver/machine.h"

namespace simcuda {

status code_store::load(code_module*& out, library* from) {
  context& target = current_context();
  if (!target.owner.charge(machine::instance().settings.module_bytes)) return status::out_of_memory;
  out = modules_.create(&target, from);
  return status::success;
}

void code_store::unload(code_module* gone) {
  auto& sim = machine::instance();
  for (const auto& [name, handle] : gone->functions) functions_.destroy(handle);
  for (const auto& [name, address] : gone->globals) {
    if (const block* variable = sim.blocks.starting_at(address)) sim.blocks.free(*variable);
  }
  if (gone->from) gone->from->modules.erase(gone->made_in);
  gone->made_in->owner.refund(sim.settings.module_bytes);
  modules_.destroy(gone);
}

void code_store::unload(library* gone) {
  while (!gone->modules.empty()) unload(gone->modules.begin()->second);
  for (const auto& [name, handle] : gone->kernels) kernels_.destroy(handle);
  libraries_.destroy(gone);
}

void code_store::unload_context(const context* gone) {
  std::vector<code_module*> doomed;
  modules_.for_each([&](code_module& candidate) {
    if (candidate.made_in == gone) doomed.push_back(&candidate);
  });
  for (code_module* one : doomed) unload(one);
}

status code_store::materialize(library* from, code_module*& out) {
  context* target = &current_context();
  if (const auto known = from->modules.find(target); known != from->modules.end()) {
    out = known->second;
    return status::success;
  }
  const status loaded = load(out, from);
  if (loaded == status::success) from->modules.emplace(target, out);
  return loaded;
}

function* code_store::find_function(code_module* in, const char* name) {
  auto& slot = in->functions[name];
  if (!slot) slot = functions_.create(in, name);
  return slot;
}

kernel* code_store::find_kernel(library* in, const char* name) {
  auto& slot = in->kernels[name];
  if (!slot) slot = kernels_.create(in, name);
  return slot;
}

status code_store::find_global(code_module* in, const char* name, bool managed, device_ptr& address,
                               std::size_t& bytes) {
  auto& sim = machine::instance();
  const auto scripted = sim.settings.globals.find(std::string_view(name));
  bytes = scripted == sim.settings.globals.end() ? global_bytes : scripted->second;
  if (const auto known = in->globals.find(name); known != in->globals.end()) {
    address = known->second;
    return status::success;
  }
  const block* made = nullptr;
  const status result = sim.blocks.allocate({.bytes = bytes,
                                             .kind = managed ? block_kind::managed : block_kind::global,
                                             .owner = &in->made_in->owner,
                                             .made_in = in->made_in},
                                            made);
  if (result != status::success) return result;
  address = made->address;
  in->globals.emplace(name, address);
  return status::success;
}

}  // namespace simcuda
