// What the process can reach: device files, and the devices that the environment lets it see.
#include <algorithm>
#include <sstream>

#include "analyze/sizes.hpp"
#include "diagnose/cause.hpp"

namespace gpumem {
namespace {

constexpr const char* visible = "CUDA_VISIBLE_DEVICES";

Finding devices_hidden(const Scene& scene) {
  const auto list = scene.variable(visible);
  if (!list) return Finding::not_thought_of();
  if (!list->empty() && !list->starts_with("-1") && *list != "NoDevFiles") return Finding::not_thought_of();
  return Finding::proven_by(
      {scene.from_variable(std::string(visible) + " is \"" + *list + "\", which hides every device", visible)});
}

bool names_a_device(const Machine& machine, const std::string& entry) {
  return std::any_of(machine.gpus.begin(), machine.gpus.end(), [&](const Gpu& gpu) {
    if (entry == std::to_string(gpu.index)) return true;
    const bool is_uuid = entry.starts_with("GPU-") || entry.starts_with("MIG-");
    const bool is_instance = std::any_of(gpu.instances.begin(), gpu.instances.end(),
                                         [&](const auto& instance) { return instance.uuid.starts_with(entry); });
    return is_uuid && ((gpu.uuid && gpu.uuid->starts_with(entry)) || is_instance);
  });
}

Finding list_names_nothing(const Scene& scene) {
  const auto list = scene.variable(visible);
  if (!list || list->empty() || !scene.nvml_answered() || scene.machine()->gpus.empty())
    return Finding::not_thought_of();
  const std::string first = list->substr(0, list->find(','));
  if (names_a_device(*scene.machine(), first)) {
    return Finding::not_thought_of();
  }
  return Finding::proven_by({scene.from_variable(std::string(visible) + " is \"" + *list + "\"", visible),
                             scene.from_probe("no device here is called \"" + first + "\": NVML has " +
                                                  count_of(scene.machine()->gpus.size(), "device"),
                                              "nvml.devices")});
}

Finding ordinal_beyond_list(const Scene& scene) {
  Finding found;
  if (const auto list = scene.variable(visible); list && !list->empty()) {
    found.weight = Weight::likely;
    found.evidence = {scene.from_variable(
        std::string(visible) + " is \"" + *list + "\", and ordinals count within this list", visible)};
  }
  if (scene.nvml_answered()) {
    found.evidence.push_back(
        scene.from_probe("NVML sees " + count_of(scene.machine()->gpus.size(), "device"), "nvml.devices"));
  }
  if (scene.failure().device) {
    found.evidence.push_back(
        scene.from_failure("device " + std::to_string(*scene.failure().device) + " was asked for"));
  }
  return found;
}

Finding container_hides_devices(const Scene& scene) {
  for (const char* name : {"NVIDIA_VISIBLE_DEVICES"}) {
    const auto value = scene.variable(name);
    if (!value || (*value != "void" && *value != "none" && !value->empty())) continue;
    return {Weight::likely,
            {scene.from_variable(std::string(name) + " is \"" + *value + "\": the container was given no GPU", name)},
            {},
            "",
            {}};
  }
  return Finding::not_thought_of();
}

Finding no_kernel_driver(const Scene& scene) {
  const auto& version = scene.process().process.kernel_driver;
  if (const auto& init = scene.process().first_init; init && init->ns < scene.failure().ns) {
    return Finding::ruled_out_by(
        {"the same process had started CUDA before", LineOfJournal{"event", init->ns, init->tid}, ""});
  }
  if (version)
    return Finding::ruled_out_by(scene.from_process("the kernel driver is loaded: " + *version, "kernel_driver"));
  if (scene.nvml_answered())
    return Finding::ruled_out_by(scene.from_probe("NVML works, which asks the kernel driver", "nvml.status"));
  Finding found;
  found.weight = Weight::likely;
  found.evidence = {scene.from_process(
      "/proc/driver/nvidia/version does not exist, so no NVIDIA kernel driver is loaded here", "kernel_driver")};
  if (scene.machine() && scene.machine()->nvml.code == 9) {  // NVML_ERROR_DRIVER_NOT_LOADED
    found.weight = Weight::proven;
    found.evidence.push_back(scene.from_probe("NVML says the same: driver not loaded", "nvml.code"));
  }
  return found;
}

Evidence node_evidence(const Scene& scene, const DeviceNode& node) {
  const std::string what = !node.exists ? " does not exist"
                           : node.open  ? " cannot be opened: " + *node.open
                                        : " did not answer when it was opened";
  return scene.from_probe(node.path + what, "device_nodes.nodes");
}

bool is_usable(const DeviceNode& node) { return node.exists && node.open == "ok"; }

Evidence usable_evidence(const Scene& scene, const char* path) {
  return scene.from_probe(std::string(path) + " can be opened", "device_nodes.nodes");
}

// Codes by which the driver says that it cannot use what it found.
bool says_unusable(std::int64_t code) { return code == 100 || code == 304 || code == 999; }

Finding uvm_node(const Scene& scene) {
  const bool are_known = scene.machine() && scene.machine()->nodes_known;
  const DeviceNode* node = are_known ? scene.machine()->node("/dev/nvidia-uvm") : nullptr;
  if (!node) return says_unusable(scene.code()) ? Finding() : Finding::not_thought_of();
  if (is_usable(*node)) return Finding::ruled_out_by(usable_evidence(scene, "/dev/nvidia-uvm"));
  if (const auto& init = scene.process().first_init; init && init->ns < scene.failure().ns)
    return Finding::not_thought_of();
  Finding found;
  found.evidence = {node_evidence(scene, *node)};
  const DeviceNode* control = scene.machine()->node("/dev/nvidiactl");
  // Without any of the files it is not this one that is missing.
  if (!control || !is_usable(*control)) return says_unusable(scene.code()) ? found : Finding::not_thought_of();
  found.weight = Weight::proven;
  found.evidence.push_back(usable_evidence(scene, "/dev/nvidiactl"));
  if (scene.nvml_answered()) found.evidence.push_back(scene.from_probe("NVML works", "nvml.status"));
  if (node->exists) {
    found.verdict = "/dev/nvidia-uvm cannot be opened (" + node->open.value_or("no answer") +
                    "), and CUDA cannot start without it.";
    found.advice = {node->open == "EACCES" || node->open == "EPERM"
                        ? "Give this user or container access to it (mode 0666, or the container's device list)."
                        : "Reload the module: rmmod nvidia_uvm && modprobe nvidia_uvm (as root), after ending the "
                          "processes that hold it."};
  }
  return found;
}

Finding device_nodes(const Scene& scene) {
  if (!scene.machine() || !scene.machine()->nodes_known) return {};
  Finding found;
  bool all_usable = true;
  for (const auto& node : scene.machine()->nodes) {
    const bool is_gpu_or_control = node.path.starts_with("/dev/nvidia") && node.path != "/dev/nvidia-uvm" &&
                                   node.path.find("caps") == std::string::npos &&
                                   node.path.find('-') == std::string::npos;
    if (!is_gpu_or_control || is_usable(node)) continue;
    all_usable = false;
    found.evidence.push_back(node_evidence(scene, node));
  }
  if (all_usable) {
    return Finding::ruled_out_by(
        scene.from_probe("/dev/nvidiactl and the devices' files can be opened", "device_nodes.nodes"));
  }
  const bool is_container = !scene.machine()->container_marks.empty() || scene.machine()->own_pid_namespace;
  const bool has_driver = scene.process().process.kernel_driver.has_value();
  found.weight = has_driver ? Weight::proven : Weight::likely;
  if (is_container) found.evidence.push_back(scene.from_probe("this is a container", "system.container_marks"));
  found.advice = {is_container ? "Start the container with access to the GPU (docker: --gpus all; Kubernetes: a "
                                 "nvidia.com/gpu limit)."
                               : "nvidia-modprobe (as root) makes the files; this user needs to be allowed to open "
                                 "them."};
  return found;
}

Finding no_working_device(const Scene& scene) {
  Finding found;
  if (!scene.nvml_answered()) return found;
  if (scene.machine()->gpus.empty()) {
    found.weight = Weight::likely;
    found.evidence = {scene.from_probe("NVML sees no device either", "nvml.devices")};
    return found;
  }
  return Finding::ruled_out_by(
      scene.from_probe("NVML sees " + count_of(scene.machine()->gpus.size(), "device"), "nvml.devices"));
}

const Cause causes[] = {
    {"devices_hidden",
     "the environment hides every GPU",
     "The environment hides every GPU from this process.",
     "Unset CUDA_VISIBLE_DEVICES or name a device.",
     "CUDA_VISIBLE_DEVICES of the process",
     {100},
     devices_hidden,
     true},
    {"visible_list_invalid",
     "CUDA_VISIBLE_DEVICES names no device of this machine",
     "CUDA_VISIBLE_DEVICES names no device of this machine, so CUDA sees none.",
     "Name a device as nvidia-smi -L lists them, or unset the variable.",
     "nvidia-smi -L",
     {100},
     list_names_nothing,
     true},
    {"ordinal_beyond_list",
     "the device number is beyond the devices that the process can see",
     "The program asked for a device number beyond the visible list.",
     "Ordinals start at 0 within CUDA_VISIBLE_DEVICES.",
     "nvidia-smi -L",
     {101},
     ordinal_beyond_list},
    {"no_kernel_driver",
     "no NVIDIA kernel driver is loaded",
     "No NVIDIA kernel driver is loaded on this machine or in this container.",
     "Load the driver (nvidia-smi must work here), or start the container with access to the GPU.",
     "nvidia-smi",
     {100, 999},
     no_kernel_driver},
    {"container_without_gpu",
     "the container was given no GPU",
     "The container was given no GPU.",
     "Start it with access to the GPU (docker: --gpus all).",
     "NVIDIA_VISIBLE_DEVICES",
     {100},
     container_hides_devices,
     true},
    {"device_nodes",
     "the container or the user has no access to /dev/nvidia*",
     "This process has no access to the device files.",
     "",
     "ls -l /dev/nvidia* as this user",
     {100, 304, 999},
     device_nodes},
    {"uvm_node",
     "/dev/nvidia-uvm is missing or cannot be opened",
     "/dev/nvidia-uvm is missing, and CUDA cannot start without it.",
     "nvidia-modprobe -u -c=0 makes it (once after boot, as root); a container must be given it too.",
     "ls -l /dev/nvidia-uvm as this user; nvidia-modprobe -u",
     {2, 3, 46, 100, 304, 999},
     uvm_node},
    {"no_working_device",
     "the driver found no working device",
     "The driver found no working device.",
     "Look at nvidia-smi -L and at the kernel's log.",
     "nvidia-smi -L and the kernel log",
     {100},
     no_working_device},
};

}  // namespace

Causes causes_in_access() { return causes; }

}  // namespace gpumem
