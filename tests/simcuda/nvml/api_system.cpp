// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "nvml/api.h"
#include "nvml/copy_text.h"
#include "nvml/system.h"

namespace simcuda::nvml::api {
namespace {

bool uses_cuda(unsigned pid) {
  const auto& view = machine_view::instance();
  return std::ranges::any_of(view.devices(), [&](const auto& device) {
    return std::ranges::any_of(view.users_of(*device),
                               [pid](const auto& user) { return std::cmp_equal(user.pid, pid); });
  });
}

}  // namespace

outcome nvmlInit_v2() {
  auto& view = machine_view::instance();
  if (!view.script_accepted()) return outcome::unknown;
  const std::lock_guard guard(view.mutex);
  ++view.starts;
  return outcome::success;
}

outcome nvmlInitWithFlags(unsigned flags) {
  constexpr unsigned known_flags = 3;  // no GPUs, no attach
  return flags & ~known_flags ? outcome::invalid_argument : nvmlInit_v2();
}

outcome nvmlShutdown() {
  auto& view = machine_view::instance();
  const std::lock_guard guard(view.mutex);
  --view.starts;
  return outcome::success;
}

outcome nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return copy_text(machine_view::instance().settings().nvml_driver_version, text, length);
}

outcome nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  const auto& settings = machine_view::instance().settings();
  return copy_text(std::to_string(settings.driver_version / 1000) + "." + settings.nvml_driver_version, text, length);
}

outcome nvmlSystemGetCudaDriverVersion(int* version) {
  if (!version) return outcome::invalid_argument;
  *version = machine_view::instance().settings().driver_version;
  return outcome::success;
}

outcome nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  if (!name || !length) return outcome::invalid_argument;
  if (static_cast<pid_t>(pid) == getpid() || uses_cuda(pid)) {
    char path[4096];
    const ssize_t size = readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), path, sizeof path);
    return copy_text(std::string(path, size > 0 ? static_cast<std::size_t>(size) : 0), name, length);
  }
  for (const auto& device : machine_view::instance().devices()) {
    for (const auto& process : device->about.other_processes) {
      if (static_cast<unsigned>(process.pid) == pid) return copy_text(process.name, name, length);
    }
  }
  return outcome::not_found;
}

}  // namespace simcuda::nvml::api
