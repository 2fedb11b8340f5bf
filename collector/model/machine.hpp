// The machine at one moment, as `gpumem probe` told of it: docs/PROBE.md defines what each value means.
//
// What the probe did not tell is absent, never made up. Nothing here is derived but the list of a device's users, which
// joins the three lists of NVML.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpumem {

struct GpuUser {
  std::int64_t pid = 0;
  std::optional<std::uint64_t> bytes;
  bool is_graphics_only = false;
};

struct MigInstance {
  std::string uuid;
  std::optional<std::uint64_t> total, free;
};

struct Gpu {
  std::int64_t index = 0;  // NVML's
  std::optional<std::string> uuid, pci, name;
  std::optional<std::uint64_t> total, free;
  std::optional<std::uint64_t> reserved;  // by the driver itself, of what is not free
  std::optional<std::string> compute_mode;
  bool mig_enabled = false;
  std::vector<MigInstance> instances;
  std::vector<GpuUser> users;  // largest first
  bool users_known = false;    // whether NVML answered for them
};

struct OtherProcess {
  std::int64_t pid = 0;
  std::optional<std::int64_t> parent;
  std::optional<std::string> name;
  std::vector<std::string> command;
  std::optional<std::uint64_t> start_ticks;
  std::optional<std::uint64_t> age_s;
  std::string state;               // as in /proc: R, S, D, Z …
  std::string reason;              // why nothing is known of it
  std::vector<std::string> files;  // of GPUs that it has open, where that was looked for
};

struct DeviceNode {
  std::string path;
  bool exists = false;
  std::optional<std::string> open;  // "ok" or the name of an error
};

struct MemoryGroup {  // one level of the cgroups that the process is in
  std::string folder;
  std::optional<std::uint64_t> limit;
  std::optional<std::uint64_t> used;  // without cached files, which the kernel gives up when memory is short
  std::map<std::string, std::uint64_t> events;

  bool is_at_limit() const { return limit && used && *used >= *limit - *limit / 20; }
};

struct KernelMessage {
  std::optional<double> seconds_ago;
  std::string text;
};

struct Nvml {
  std::string status;   // "ok", "absent", "refused", "timed out", "died", "not started"; empty: nothing told
  std::string trouble;  // the rest of it in words, for a status that is not "ok"
  std::optional<std::int64_t> code;
  std::string path, driver_version;
  std::optional<std::uint64_t> cuda_version;  // 12040
};

struct MpsFacts {
  std::optional<std::string> pipe_directory;
  bool chosen = false;  // by a variable
  std::optional<bool> exists, control_exists;
  std::vector<std::int64_t> processes;
};

struct LibraryFile {
  std::string path;
  std::optional<std::string> target;  // the file behind it
};

struct Machine {
  std::uint64_t wall_ns = 0;
  Nvml nvml;
  std::vector<Gpu> gpus;
  std::vector<OtherProcess> processes;  // that NVML names
  std::vector<OtherProcess> holders;    // that have a GPU's file open
  std::optional<std::uint64_t> unreadable_processes;

  std::vector<DeviceNode> nodes;
  bool nodes_known = false;

  std::optional<std::string> kernel_driver;
  std::vector<MemoryGroup> groups;
  std::vector<std::string> container_marks;
  bool own_pid_namespace = false;  // the numbers of NVML mean others here
  MpsFacts mps;
  std::optional<std::uint64_t> suspends;
  std::optional<double> since_resume_s;
  std::vector<KernelMessage> kernel_log;
  std::string kernel_log_trouble;
  std::string proc;  // "ok", "missing", "of another namespace"; empty: not told
  std::optional<bool> needs_fabric_manager;
  std::vector<std::int64_t> fabric_managers;
  std::optional<std::uint64_t> host_total, host_available, swap_free, commit_limit, committed;
  std::optional<std::int64_t> overcommit;
  std::vector<LibraryFile> libraries;  // files named as the driver or a runtime, where the loader looks

  const OtherProcess* process(std::int64_t pid) const;  // of either list; null: not described
  const DeviceNode* node(std::string_view path) const;
};

// Throws BadLine where it is no such object; keys of a wrong type count as absent.
Machine read_machine_text(std::string_view said);
Machine read_machine(const nlohmann::json& said);

// "0000:19:00.0" for each of the forms that CUDA, NVML and the kernel write a bus id in; for comparisons.
std::string plain_pci(std::string_view pci);

}  // namespace gpumem
