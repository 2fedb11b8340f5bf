// SPDX-License-Identifier: Apache-2.0
// Who uses a device's memory, and how much.
#include "nvml/api.h"
#include "nvml/system.h"

namespace simcuda::nvml::api {
namespace {

void fill(process_info_v1& out, unsigned pid, unsigned long long used) { out = {pid, used}; }

void fill(process_info& out, unsigned pid, unsigned long long used) {
  constexpr unsigned no_instance = 0xffffffff;
  out = {pid, used, no_instance, no_instance};
}

/// The two-call pattern: without enough room the answer is how much is needed.
template <class Info>
outcome list_processes(const gpu* device, unsigned* count, Info* infos, process_kind kind) {
  auto& view = machine_view::instance();
  if (!count || !view.contains(device)) return outcome::invalid_argument;
  std::vector<std::pair<unsigned, unsigned long long>> found;
  for (const auto& process : device->about.other_processes) {
    if (process.kind == kind) found.emplace_back(static_cast<unsigned>(process.pid), process.used_bytes);
  }
  if (kind == process_kind::compute) {
    for (const auto& [pid, used] : view.users_of(*device)) found.emplace_back(static_cast<unsigned>(pid), used);
  }
  const bool fits = *count >= found.size();
  if (fits && !found.empty() && !infos) return outcome::invalid_argument;
  *count = static_cast<unsigned>(found.size());
  if (!fits) return outcome::insufficient_size;
  for (const auto& [pid, used] : found) fill(*infos++, pid, used);
  return outcome::success;
}

}  // namespace

outcome nvmlDeviceGetMemoryInfo(gpu* device, memory_info* info) {
  auto& view = machine_view::instance();
  if (!info || !view.contains(device)) return outcome::invalid_argument;
  const unsigned long long used = view.used_of(*device), reserved = device->about.reserved_bytes;
  const unsigned long long free = device->about.capacity - used;
  *info = {free + used + reserved, free, used + reserved};
  return outcome::success;
}

outcome nvmlDeviceGetMemoryInfo_v2(gpu* device, memory_info_v2* info) {
  constexpr unsigned version = sizeof(memory_info_v2) | 2u << 24;
  auto& view = machine_view::instance();
  if (!info || !view.contains(device)) return outcome::invalid_argument;
  if (info->version != version) return outcome::version_mismatch;
  const unsigned long long used = view.used_of(*device), reserved = device->about.reserved_bytes;
  const unsigned long long free = device->about.capacity - used;
  *info = {version, free + used + reserved, reserved, free, used};
  return outcome::success;
}

outcome nvmlDeviceGetComputeRunningProcesses(gpu* device, unsigned* count, process_info_v1* infos) {
  return list_processes(device, count, infos, process_kind::compute);
}

outcome nvmlDeviceGetComputeRunningProcesses_v3(gpu* device, unsigned* count, process_info* infos) {
  return list_processes(device, count, infos, process_kind::compute);
}

outcome nvmlDeviceGetGraphicsRunningProcesses(gpu* device, unsigned* count, process_info_v1* infos) {
  return list_processes(device, count, infos, process_kind::graphics);
}

outcome nvmlDeviceGetGraphicsRunningProcesses_v3(gpu* device, unsigned* count, process_info* infos) {
  return list_processes(device, count, infos, process_kind::graphics);
}

outcome nvmlDeviceGetMPSComputeRunningProcesses(gpu* device, unsigned* count, process_info_v1* infos) {
  return list_processes(device, count, infos, process_kind::mps);
}

outcome nvmlDeviceGetMPSComputeRunningProcesses_v3(gpu* device, unsigned* count, process_info* infos) {
  return list_processes(device, count, infos, process_kind::mps);
}

}  // namespace simcuda::nvml::api
