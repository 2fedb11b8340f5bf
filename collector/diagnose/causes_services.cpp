// Services that CUDA waits for, and what a machine's sleep leaves behind.
#include <algorithm>

#include "analyze/sizes.hpp"
#include "diagnose/cause.hpp"
#include "diagnose/holders.hpp"

namespace gpumem {
namespace {

void add_later_success(const Scene& scene, Finding& found) {
  const auto& init = scene.process().first_init;
  if (!init || init->ns < scene.failure().ns) return;
  found.evidence.push_back({"the same process started CUDA " +
                                std::to_string((init->ns - scene.failure().ns) / 1'000'000) +
                                " ms later: what it lacked had come up",
                            LineOfJournal{"event", init->ns, init->tid}, ""});
}

Finding fabric_manager(const Scene& scene) {
  Finding found;
  found.weight = Weight::likely;
  found.evidence = {
      scene.from_failure("the driver says that the system is not ready, as it does on NVSwitch machines "
                         "until their fabric manager runs")};
  add_later_success(scene, found);
  const Machine* machine = scene.machine();
  if (!machine) return found;
  if (scene.nvml_answered()) {
    found.evidence.push_back(scene.from_probe(
        "NVML works, with driver " + machine->nvml.driver_version + ": the fabric manager must be of this very version",
        "nvml.driver_version"));
  }
  if (machine->needs_fabric_manager == false) {
    found.weight = Weight::possible;
    found.against.push_back(scene.from_probe("no NVSwitch is visible here", "system.fabric_manager.needed"));
  }
  if (machine->needs_fabric_manager == true) {
    found.weight = Weight::proven;
    found.evidence.push_back(scene.from_probe("this machine has NVSwitches", "system.fabric_manager.needed"));
    const bool runs = !machine->fabric_managers.empty();
    found.evidence.push_back(scene.from_probe(
        runs ? "nv-fabricmanager runs, so its version is to be looked at" : "no nv-fabricmanager is visible here",
        "system.fabric_manager.processes"));
  }
  return found;
}

bool is_mps_chosen(const Scene& scene) {
  return scene.variable("CUDA_MPS_PIPE_DIRECTORY").has_value() ||
         (scene.machine() && (scene.machine()->mps.exists == true || !scene.machine()->mps.processes.empty()));
}

Finding mps_unreachable(const Scene& scene) {
  const std::int64_t mps_codes[] = {805, 806, 807, 808, 809, 810, 811};
  const bool says_so = std::find(std::begin(mps_codes), std::end(mps_codes), scene.code()) != std::end(mps_codes);
  if (!says_so && !is_mps_chosen(scene)) return Finding::not_thought_of();
  Finding found;
  found.weight = says_so ? Weight::likely : Weight::possible;
  const std::string name = "CUDA_MPS_PIPE_DIRECTORY";
  if (const auto pipe = scene.variable(name))
    found.evidence.push_back(scene.from_variable(name + " is \"" + *pipe + "\"", name));
  if (!scene.machine()) return found;
  const MpsFacts& mps = scene.machine()->mps;
  const std::string folder = mps.pipe_directory.value_or("the pipe directory");
  if (mps.exists == false) {
    if (says_so) found.weight = Weight::proven;
    found.evidence.push_back(scene.from_probe(folder + " does not exist here", "system.mps.exists"));
  } else if (mps.control_exists == false) {
    if (says_so) found.weight = Weight::proven;
    found.evidence.push_back(
        scene.from_probe(folder + " exists, but the daemon's socket in it is missing", "system.mps.control_exists"));
  } else if (mps.control_exists == true) {
    found.evidence.push_back(scene.from_probe(folder + " has the daemon's files", "system.mps.control_exists"));
  }
  for (const Gpu* gpu : scene.gpus()) {
    if (gpu->compute_mode && *gpu->compute_mode != "default")
      found.evidence.push_back(
          scene.from_probe("the compute mode of " + scene.name_of(*gpu) + " is " + *gpu->compute_mode, "nvml.devices"));
  }
  return found;
}

Finding lost_over_suspend(const Scene& scene) {
  const Machine* machine = scene.machine();
  if (!machine) return {};
  if (machine->suspends == 0u)
    return Finding::ruled_out_by(
        scene.from_probe("the machine has not been suspended since it was started", "system.times.suspends"));
  Finding found;
  if (machine->suspends.value_or(0) > 0) {
    found.weight = Weight::likely;
    found.evidence.push_back(
        scene.from_probe("the machine was suspended " + count_of(*machine->suspends, "time") + " since it was started",
                         "system.times.suspends"));
  }
  if (machine->since_resume_s) {
    constexpr double long_ago_s = 86400;
    if (*machine->since_resume_s > long_ago_s) found.weight = Weight::possible;
    found.evidence.push_back(
        scene.from_probe("it resumed " + age_text(static_cast<std::uint64_t>(*machine->since_resume_s)) + " ago",
                         "system.times.since_resume_s"));
  }
  if (scene.nvml_answered()) found.evidence.push_back(scene.from_probe("NVML works", "nvml.status"));
  for (const auto& holder : machine->holders) {
    const bool has_uvm = std::any_of(holder.files.begin(), holder.files.end(),
                                     [](const auto& file) { return file.find("nvidia-uvm") != std::string::npos; });
    if (has_uvm && !scene.is_self(holder.pid))
      found.evidence.push_back(scene.from_probe("process " + std::to_string(holder.pid) + " (" +
                                                    holder.name.value_or("?") +
                                                    ") holds /dev/nvidia-uvm, and must end before it can be reloaded",
                                                "system.holders"));
  }
  return found;
}

const Cause causes[] = {
    {"mps_unreachable",
     "the MPS control daemon does not run, or cannot be reached from here",
     "The MPS control daemon cannot be reached from here.",
     "Start nvidia-cuda-mps-control there, make its folder visible in the container, run as its user, or unset "
     "CUDA_MPS_PIPE_DIRECTORY.",
     "ls of the MPS pipe directory",
     {46, 805, 806, 807, 808, 809, 810, 811},
     mps_unreachable,
     true},
    {"fabric_manager",
     "an NVSwitch machine whose fabric manager does not run, or has another version than the driver",
     "The system is not ready: its fabric manager does not run, or has another version than the driver.",
     "Start it (systemctl start nvidia-fabricmanager, as root), in the version of the driver; right after boot, wait "
     "for it.",
     "systemctl status nvidia-fabricmanager",
     {802},
     fabric_manager},
    {"lost_over_suspend",
     "the kernel module lost its state over a suspend",
     "The kernel module nvidia_uvm lost its state when the machine was suspended.",
     "Reload it after ending its users: rmmod nvidia_uvm && modprobe nvidia_uvm (as root), or restart the machine.",
     "reloading nvidia_uvm, or a reboot",
     {999},
     lost_over_suspend},
};

}  // namespace

Causes causes_in_services() { return causes; }

}  // namespace gpumem
