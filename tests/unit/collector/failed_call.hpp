// A failed call with all that is known of it, to be diagnosed without a journal file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "diagnose/diagnosis.hpp"
#include "diagnose/neighbours.hpp"

namespace gpumem {

struct FailedCall {
  ProcessAnalysis process;
  FailureGroup group;
  nlohmann::json machine;  // what the probe says; null: there was none

  static FailedCall start(std::int64_t code) {
    FailedCall call;
    call.process.process.kernel_driver = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27";
    call.process.process.pid = 4000;
    call.process.process.ppid = 3999;
    call.process.process.host = "node7";
    call.group.first.api = "cuInit";
    call.group.first.tried = "init";
    call.group.first.start = true;
    call.group.first.code = code;
    call.group.first.ns = 1'000'000;
    call.group.count = 1;
    return call;
  }

  static FailedCall allocation(std::uint64_t bytes) {
    FailedCall call = start(2);
    call.group.first.api = "cuMemAlloc_v2";
    call.group.first.tried = "alloc";
    call.group.first.start = false;
    call.group.first.kind = "device";
    call.group.first.device = 0;
    call.group.first.bytes = bytes;
    call.process.devices[0].uuid = "GPU-0";
    return call;
  }

  // One more GPU of 16 GiB in the machine.
  nlohmann::json& add_gpu(std::uint64_t free_mib) {
    auto& devices = machine["nvml"]["devices"];
    machine["nvml"]["status"] = "ok";
    const auto index = devices.size();
    constexpr std::uint64_t mib = 1 << 20;
    devices.push_back({{"index", index},
                       {"uuid", "GPU-" + std::to_string(index)},
                       {"pci_bus_id", "00000000:0" + std::to_string(index + 1) + ":00.0"},
                       {"name", "Test GPU"},
                       {"compute_mode", "default"},
                       {"memory", {{"total_bytes", 16384 * mib}, {"free_bytes", free_mib * mib}}},
                       {"processes", {{"compute", nlohmann::json::array()}}}});
    return devices.back();
  }

  // A process that uses a GPU.
  void add_user(std::size_t gpu, int pid, std::uint64_t mib, const std::string& command) {
    machine["nvml"]["devices"][gpu]["processes"]["compute"].push_back({{"pid", pid}, {"used_bytes", mib << 20}});
    machine["nvml"]["processes"].push_back({{"pid", pid}, {"name", command}, {"command", {command}}, {"age_s", 2400}});
  }

  void add_node(const std::string& path, const std::string& open) {
    machine["device_nodes"]["nodes"].push_back({{"path", path},
                                                {"exists", open != "ENOENT"},
                                                {"open", open == "ENOENT" ? nlohmann::json() : nlohmann::json(open)}});
  }

  ModuleRecord& add_module(const std::string& path, const std::string& role = "") {
    ModuleRecord& module = process.all_modules[process.all_modules.size() + 1];
    module.id = process.all_modules.size();
    module.path = path;
    if (!role.empty()) module.role = role;
    return module;
  }

  Diagnosis why() {
    if (!machine.is_null()) {
      group.probe = ProbeRecord{{group.first.ns + 1, 0}, "ok", "", 1, machine.dump()};
    }
    return diagnose(group, process, neighbours);
  }

  Neighbourhood neighbours;
};

inline std::string all_text(const std::vector<Evidence>& all) {
  std::string text;
  for (const auto& each : all) text += each.text + "\n";
  return text;
}

inline std::string all_text(const std::vector<std::string>& all) {
  std::string text;
  for (const auto& each : all) text += each + "\n";
  return text;
}

inline bool has_candidate(const Diagnosis& why, const std::string& id) {
  for (const auto& each : why.candidates) {
    if (each.id == id) return true;
  }
  return false;
}

inline bool is_ruled_out(const Diagnosis& why, const std::string& id) {
  for (const auto& each : why.ruled_out) {
    if (each.id == id) return !each.against.empty();
  }
  return false;
}

}  // namespace gpumem
