// Who may use the device: compute modes, instances, a device that refuses everybody.
#include <algorithm>

#include "diagnose/cause.hpp"
#include "diagnose/holders.hpp"

namespace gpumem {
namespace {

// The mode as NVML says, or as the driver told this process.
struct Mode {
  std::string name;
  std::string device;  // how a person knows it
  Evidence evidence;
  const Gpu* gpu = nullptr;
};

std::vector<Mode> modes_of(const Scene& scene) {
  std::vector<Mode> modes;
  for (const Gpu* gpu : scene.gpus()) {
    if (!gpu->compute_mode) continue;
    const std::string device = scene.name_of(*gpu);
    modes.push_back(
        {*gpu->compute_mode, device,
         scene.from_gpu("the compute mode of " + device + " is " + *gpu->compute_mode, *gpu, "compute_mode"), gpu});
  }
  if (!modes.empty()) return modes;
  for (const auto& [ordinal, told] : scene.process().devices) {
    if (!told.compute_mode || scene.failure().device.value_or(ordinal) != ordinal) continue;
    const std::string device = "GPU " + std::to_string(ordinal);
    Evidence evidence{"the compute mode of " + device + " is " + *told.compute_mode,
                      LineOfJournal{"device", told.ns, told.tid}, "compute_mode"};
    modes.push_back({*told.compute_mode, device, std::move(evidence), nullptr});
  }
  return modes;
}

bool is_exclusive(const Mode& mode) { return mode.name == "exclusive_process" || mode.name == "exclusive_thread"; }

// Of the devices that the call was about; where it names none, only if all are alike.
std::vector<Mode> exclusive_modes(const Scene& scene) {
  auto modes = modes_of(scene);
  if (!scene.is_certain_of_device() && !std::all_of(modes.begin(), modes.end(), is_exclusive)) return {};
  std::erase_if(modes, [](const Mode& mode) { return !is_exclusive(mode); });
  return modes;
}

// Contexts that this process has on the device: by its own calls, or by those of another library that NVML counts.
Finding exclusive_same_process(const Scene& scene) {
  for (const auto& mode : exclusive_modes(scene)) {
    Finding found;
    found.weight = Weight::proven;
    found.evidence = {mode.evidence};
    bool holds_it = mode.gpu ? scene.had_context_on(*mode.gpu)
                             : scene.failure().device && scene.group().own_contexts.contains(*scene.failure().device);
    if (holds_it)
      found.evidence.push_back(scene.from_failure("this process had a context on it already, by its own calls"));
    if (mode.gpu) {
      for (const auto& holder : holders_of(scene, *mode.gpu)) {
        if (!holder.is_self) continue;
        holds_it = true;
        found.evidence.push_back(scene.from_gpu(holder.who + " has a context on it already", *mode.gpu, "processes"));
      }
    }
    if (!holds_it) continue;
    for (const char* library : {"libOpenCL", "libnvidia-opencl"}) {
      if (const ModuleRecord* module = scene.module_named(library)) {
        found.evidence.push_back(scene.from_module(
            module->path.value_or("") + " is loaded: OpenCL makes contexts of its own, not by CUDA calls", *module));
        break;
      }
    }
    found.verdict =
        mode.device + " allows one context only (" + mode.name + "), and this same process has one already.";
    return found;
  }
  return Finding::not_thought_of();
}

Finding exclusive_other_process(const Scene& scene) {
  for (const auto& mode : exclusive_modes(scene)) {
    if (!mode.gpu) continue;
    const auto holders = holders_of(scene, *mode.gpu);
    const auto other = std::find_if(holders.begin(), holders.end(), [](const Holder& each) { return !each.is_self; });
    if (other == holders.end()) continue;
    Finding found;
    found.weight = Weight::proven;
    found.evidence = {mode.evidence, scene.from_gpu(other->text(), *mode.gpu, "processes")};
    found.verdict = mode.device + " allows one process only (" + mode.name + "), and " + other->who + " has it.";
    found.advice = {other->is_mps
                        ? "That is MPS's server: make this process its client (CUDA_MPS_PIPE_DIRECTORY, same user)."
                    : other->is_parent
                        ? "Let the parent end its use of CUDA before it starts this process, use another GPU, or set "
                          "the default mode (nvidia-smi -c 0, as root)."
                        : "Wait for that process or use another GPU; nvidia-smi -c 0 (as root) allows several."};
    return found;
  }
  return Finding::not_thought_of();
}

Finding exclusive_unseen_holder(const Scene& scene) {
  for (const auto& mode : exclusive_modes(scene)) {
    Finding found;
    found.weight = Weight::likely;
    found.evidence = {mode.evidence};
    if (mode.gpu) {
      if (mode.gpu->users_known)
        found.evidence.push_back(scene.from_probe("no process is listed for it", "nvml.devices"));
      for (auto& blind : blind_spots(scene, *mode.gpu)) found.evidence.push_back(std::move(blind));
      for (auto& suspect : unlisted_suspects(scene, *mode.gpu)) found.evidence.push_back(std::move(suspect));
    }
    return found;
  }
  const auto modes = modes_of(scene);
  if (modes.empty()) return {};
  Finding none = Finding::not_thought_of();
  for (const auto& mode : modes) none.against.push_back(mode.evidence);
  return none;
}

Finding prohibited(const Scene& scene) {
  const auto modes = modes_of(scene);
  const auto is_prohibited = [](const Mode& mode) { return mode.name == "prohibited"; };
  const auto first = std::find_if(modes.begin(), modes.end(), is_prohibited);
  if (first == modes.end()) return Finding::not_thought_of();
  const bool is_about_it = scene.is_certain_of_device() || std::all_of(modes.begin(), modes.end(), is_prohibited);
  return {is_about_it ? Weight::proven : Weight::possible, {first->evidence}, {}, "", {}};
}

Finding used_by_another_thread(const Scene& scene) {
  Finding found;
  found.weight = Weight::likely;
  for (const auto& mode : modes_of(scene)) {
    found.evidence.push_back(mode.evidence);
    if (mode.name == "exclusive_thread") found.weight = Weight::proven;
  }
  found.evidence.push_back(scene.from_failure("the code itself says that the context is current to another thread"));
  return found;
}

Finding instances_missing(const Scene& scene) {
  for (const Gpu* gpu : scene.gpus()) {
    if (!gpu->mig_enabled || !gpu->instances.empty()) continue;
    Finding found;
    found.weight = scene.is_certain_of_device() ? Weight::likely : Weight::possible;
    found.evidence = {
        scene.from_gpu("MIG is on for " + scene.name_of(*gpu) + ", and no instance of it exists here", *gpu, "mig")};
    return found;
  }
  return Finding::not_thought_of();
}

// The list that a scheduler gave, exchanged by the program.
Finding visibility_overwritten(const Scene& scene) {
  const std::string name = "CUDA_VISIBLE_DEVICES";
  const auto now = scene.variable(name), before = scene.variable_at_exec(name);
  if (!before || now == before) return Finding::not_thought_of();
  Finding found;
  found.evidence = {scene.from_variable(name + " was \"" + *before + "\" at the start of the program and is " +
                                            (now ? "\"" + *now + "\"" : "unset") +
                                            " now: the device may be one that the job was not given",
                                        name)};
  return found;
}

const Cause causes[] = {
    {"prohibited_mode",
     "the device's compute mode is prohibited",
     "The device's compute mode prohibits every use of it.",
     "Use another GPU, or set the default mode: nvidia-smi -c 0 (as root).",
     "nvidia-smi -q -d COMPUTE",
     {46, 100, 101},
     prohibited,
     true},
    {"exclusive_same_process",
     "the device allows one context, and this process has one already",
     "",
     "Make only one of the two libraries use this GPU, or set the default mode: nvidia-smi -c 0 (as root).",
     "nvidia-smi -q -d COMPUTE",
     {46},
     exclusive_same_process,
     true},
    {"exclusive_other_process",
     "the device allows one process, and another one has it",
     "",
     "",
     "nvidia-smi -q -d COMPUTE, and its list of processes",
     {46},
     exclusive_other_process,
     true},
    {"exclusive_unseen_holder",
     "the device is in an exclusive compute mode, and somebody who is not visible from here holds it",
     "The device allows one process only, and somebody who is not visible from here holds it.",
     "Look at nvidia-smi on the host, or use another GPU.",
     "nvidia-smi -q -d COMPUTE, and its list of processes",
     {46},
     exclusive_unseen_holder},
    {"other_thread",
     "the context is in use by another thread",
     "The context is in use by another thread.",
     "Make the context current to one thread at a time, or set the default mode: nvidia-smi -c 0 (as root).",
     "nvidia-smi -q -d COMPUTE",
     {216},
     used_by_another_thread},
    {"mig_without_instance",
     "MIG is on, and there is no instance to use",
     "MIG is on, and there is no instance that this process could use.",
     "Create one (nvidia-smi mig -cgi … -C, as root), or switch MIG off.",
     "nvidia-smi -L",
     {46, 100, 101, 999},
     instances_missing,
     true},
    {"visibility_overwritten",
     "the program replaced the list of devices that it was given",
     "",
     "",
     "CUDA_VISIBLE_DEVICES of the job, and where the program sets it",
     {2, 46, 100, 101},
     visibility_overwritten,
     true},
};

}  // namespace

Causes causes_in_modes() { return causes; }

}  // namespace gpumem
