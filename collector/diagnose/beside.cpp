#include "diagnose/beside.hpp"

#include "analyze/runtimes.hpp"

namespace gpumem {

void tell_what_is_missing(const Scene& scene, Diagnosis& result) {
  const auto& probe = scene.group().probe;
  if (!probe) {
    result.evidence.push_back({"the machine was not looked at: the journal has no probe", std::nullopt, ""});
  } else if (!scene.machine()) {
    const std::string why = probe->status == "ok"   ? "what it said cannot be read"
                            : probe->reason.empty() ? probe->status
                                                    : probe->status + ", " + probe->reason;
    result.evidence.push_back(scene.from_probe("the machine could not be looked at (probe: " + why + ")", "status"));
  } else if (!scene.nvml_answered()) {
    const Nvml& nvml = scene.machine()->nvml;
    const std::string status = nvml.status.empty() ? "the probe does not speak of it" : nvml.status;
    result.evidence.push_back(scene.from_probe(
        "NVML told nothing (" + status + (nvml.trouble.empty() ? "" : ": " + nvml.trouble) + ")", "nvml.status"));
  }
  if (scene.machine() && !probe->reason.empty())
    result.evidence.push_back(scene.from_probe("the machine was looked at " + probe->reason, "reason"));
}

void tell_software(const Scene& scene, Diagnosis& result) {
  const Modules& all = scene.process().all_modules;
  for (const auto& runtime : find_runtimes(all))
    result.evidence.push_back(scene.from_module(runtime.describe() + " is in use", all.at(runtime.module)));
  if (const auto& kernel = scene.process().process.kernel_driver)
    result.evidence.push_back(scene.from_process("the kernel driver is " + *kernel, "kernel_driver"));
  if (const ModuleRecord* driver = driver_module(all))
    result.evidence.push_back(scene.from_module("libcuda is " + *driver->path, *driver));
}

}  // namespace gpumem
