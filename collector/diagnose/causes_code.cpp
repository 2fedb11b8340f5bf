// Code that the device or the driver cannot load. Where it is loaded at the start, that looks like a failed start.
#include "analyze/frame_rules.hpp"
#include "diagnose/cause.hpp"

namespace gpumem {
namespace {

// The file whose code was loaded, as far as the stack tells: the first that is neither CUDA's own nor an interpreter's.
const ModuleRecord* code_owner(const Scene& scene) {
  const StackRecord* stack = scene.process().stack(scene.failure().stack);
  if (!stack) return nullptr;
  for (const auto& frame : stack->frames) {
    const auto module = scene.process().all_modules.find(frame.module);
    if (module == scene.process().all_modules.end() || !module->second.path) continue;
    const auto owner = FrameRules::built_in().of_module(*module->second.path, module->second.role.value_or(""));
    if (owner == FrameOwner::user || owner == FrameOwner::framework) return &module->second;
  }
  return nullptr;
}

std::vector<Evidence> code_evidence(const Scene& scene) {
  std::vector<Evidence> evidence;
  if (const DeviceRecord* device = scene.device(); device && device->capability) {
    evidence.push_back({"the device is of compute capability " + *device->capability +
                            (device->name ? " (" + *device->name + ")" : ""),
                        LineOfJournal{"device", device->ns, device->tid}, "capability"});
  } else {
    for (const auto& [_, each] : scene.process().devices) {
      if (!each.capability) continue;
      evidence.push_back({"GPU " + std::to_string(each.device) + " is of compute capability " + *each.capability,
                          LineOfJournal{"device", each.ns, each.tid}, "capability"});
    }
  }
  if (const ModuleRecord* owner = code_owner(scene))
    evidence.push_back(scene.from_module("the call came from " + *owner->path, *owner));
  if (const auto loading = scene.variable("CUDA_MODULE_LOADING"))
    evidence.push_back(scene.from_variable("CUDA_MODULE_LOADING is " + *loading, "CUDA_MODULE_LOADING"));
  evidence.push_back(scene.from_failure("the code says that code, not memory, is what failed to load"));
  return evidence;
}

Finding no_code_for_device(const Scene& scene) {
  Finding found;
  found.weight = scene.code() == 200 ? Weight::likely : Weight::proven;
  found.evidence = code_evidence(scene);
  const ModuleRecord* owner = code_owner(scene);
  if (owner) {
    const std::string name = owner->path->substr(owner->path->rfind('/') + 1);
    found.advice = {"Use a build of " + name + " for this generation of GPU; cuobjdump --list-elf " + *owner->path +
                    " lists what it holds."};
  }
  return found;
}

Finding ptx_too_new(const Scene& scene) { return Finding::proven_by(code_evidence(scene)); }

Finding no_jit_compiler(const Scene& scene) {
  return {
      Weight::proven, {scene.from_failure("the code says that the PTX compiler's library was not found")}, {}, "", {}};
}

const Cause causes[] = {
    {"no_code_for_device",
     "the program holds no code that this GPU can load",
     "The program holds no code that this GPU can load. No memory problem.",
     "Use a build for this generation of GPU; cuobjdump --list-elf lists what a file holds.",
     "cuobjdump --list-elf of the program and its libraries",
     {98, 200, 209},
     no_code_for_device},
    {"ptx_too_new",
     "the program's PTX is newer than the driver can compile",
     "The program's PTX is newer than this driver can compile. No memory problem.",
     "Update the driver, or build with an older toolkit or for this very GPU.",
     "nvidia-smi: CUDA Version",
     {218, 222},
     ptx_too_new},
    {"no_jit_compiler",
     "the library that compiles PTX is missing",
     "The driver's library that compiles PTX (libnvidia-ptxjitcompiler.so.1) is missing.",
     "Install it with the driver; a container needs NVIDIA_DRIVER_CAPABILITIES=compute,utility.",
     "ldconfig -p | grep ptxjitcompiler",
     {221},
     no_jit_compiler},
};

}  // namespace

Causes causes_in_code() { return causes; }

}  // namespace gpumem
