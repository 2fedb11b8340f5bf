// SPDX-License-Identifier: Apache-2.0
#include "nvml/system.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace simcuda::nvml {
namespace {

/// The simulated driver's accounts, when this process has loaded it. NVML never loads CUDA by itself.
const cuda_accounts* accounts() {
  using get_table = status (*)(const void**, const uuid*);
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return nullptr;
  const auto get = reinterpret_cast<get_table>(dlsym(library, "cuGetExportTable"));
  const void* table = nullptr;
  const bool found = get && get(&table, &cuda_accounts_id) == status::success;
  dlclose(library);
  return found ? static_cast<const cuda_accounts*>(table) : nullptr;
}

std::optional<cuda_use> use_by_cuda(const gpu& device) {
  cuda_use result;
  const cuda_accounts* known = accounts();
  if (!known || !known->use(device.about.uuid.data(), &result)) return std::nullopt;
  return result;
}

}  // namespace

machine_view& machine_view::instance() {
  static machine_view* const only = new machine_view(script_of_environment());
  return *only;
}

machine_view::machine_view(std::optional<script> wanted)
    : accepted_(wanted.has_value()), settings_(wanted.value_or(default_script())) {
  if (!settings_.shared_account.empty()) {
    account_ = shared_account::open(settings_.shared_account);
    accepted_ = accepted_ && account_;
  }
  auto all = settings_.devices;
  sort_by_pci(all);
  for (const auto& about : all) {
    devices_.push_back(std::make_unique<gpu>(gpu{static_cast<unsigned>(devices_.size()), about}));
  }
}

bool machine_view::contains(const gpu* handle) const noexcept {
  return std::ranges::any_of(devices_, [handle](const auto& one) { return one.get() == handle; });
}

std::size_t machine_view::used_of(const gpu& device) const {
  if (const auto known = use_by_cuda(device)) return known->all;
  std::size_t used = account_ ? account_->used_by_others(device.about.position) : 0;
  for (const auto& process : device.about.other_processes) used += process.used_bytes;
  return std::min(used, device.about.capacity);
}

std::vector<shared_account::user> machine_view::users_of(const gpu& device) const {
  if (account_) return account_->users(device.about.position);
  const auto known = use_by_cuda(device);
  if (!known || !known->has_context) return {};
  return {{getpid(), known->own}};
}

call_site::call_site(const char* name) : name_(name) {
  for (const rule& one : machine_view::instance().settings().rules) {
    if (one.call == name) rules_.push_back(std::make_unique<armed_rule>(one));
  }
}

outcome call_site::admit(need needed) {
  auto answer = outcome::success;
  for (const auto& rule : rules_) {
    if (!rule->applies_now()) continue;
    const auto& wanted = rule->wanted();
    if (wanted.delay_ms) std::this_thread::sleep_for(std::chrono::milliseconds(wanted.delay_ms));
    // The rules after it count this call, too.
    if (answer == outcome::success) answer = static_cast<outcome>(wanted.code);
  }
  if (answer != outcome::success) return answer;
  if (needed == need::nothing) return outcome::success;
  auto& view = machine_view::instance();
  const std::lock_guard guard(view.mutex);
  return view.starts ? outcome::success : outcome::uninitialized;
}

outcome not_simulated(call_site& site) {
  return enter(site, need::started, [&site] {
    trace::line("%s is not simulated", site.name());
    return outcome::not_supported;
  });
}

}  // namespace simcuda::nvml
