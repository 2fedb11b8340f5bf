// SPDX-License-Identifier: Apache-2.0
// NVML's view of the simulated machine: the script's devices in the order of the bus, and what libcuda.so.1 uses of
// them when this process has it loaded.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/trace.h"
#include "driver/armed_rule.h"
#include "driver/cuda_use.h"
#include "driver/script.h"
#include "driver/shared_account.h"
#include "nvml/types.h"

namespace simcuda::nvml {

struct gpu {
  unsigned index;
  device_description about;
};

class machine_view {
 public:
  static machine_view& instance();

  bool script_accepted() const noexcept { return accepted_; }
  const script& settings() const noexcept { return settings_; }
  const std::vector<std::unique_ptr<gpu>>& devices() const noexcept { return devices_; }
  bool contains(const gpu* handle) const noexcept;
  /// All that is in use of the device.
  std::size_t used_of(const gpu& device) const;
  /// The processes with a context that are not the script's.
  std::vector<shared_account::user> users_of(const gpu& device) const;

  std::mutex mutex;
  int starts = 0;  // guarded by mutex; nvmlShutdown undoes one

 private:
  explicit machine_view(std::optional<script> wanted);

  bool accepted_;
  script settings_;
  std::unique_ptr<shared_account> account_;  // that the script names
  std::vector<std::unique_ptr<gpu>> devices_;
};

enum class need { nothing, started };

/// One exported function, with the script's rules for it. A delay is a hang: it holds no lock.
class call_site {
 public:
  explicit call_site(const char* name);
  const char* name() const noexcept { return name_; }
  outcome admit(need needed);

 private:
  const char* name_;
  std::vector<std::unique_ptr<armed_rule>> rules_;
};

template <class Body>
outcome enter(call_site& site, need needed, Body&& body) {
  outcome result = site.admit(needed);
  if (result == outcome::success) result = std::forward<Body>(body)();
  trace::call(site.name(), static_cast<status>(result));
  return result;
}

outcome not_simulated(call_site& site);

}  // namespace simcuda::nvml

#define SIMCUDA_DEFAULT_ENTRY(name)                                                    \
  extern "C" [[gnu::weak, gnu::visibility("default")]] simcuda::nvml::outcome name() { \
    static simcuda::nvml::call_site site{#name};                                       \
    return simcuda::nvml::not_simulated(site);                                         \
  }
