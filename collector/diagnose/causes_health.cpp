// A device that is out of order, or refuses everybody.
#include "diagnose/cause.hpp"

namespace gpumem {
namespace {

// Of the driver's messages, those that speak of the device and not of what a program did on it.
bool is_of_device(const Scene& scene, const KernelMessage& line) {
  const auto xid = line.text.find("Xid");
  if (xid == std::string::npos) return false;
  constexpr double recent_s = 3600;
  if (line.seconds_ago.value_or(0) > recent_s) return false;
  for (const Gpu* gpu : scene.gpus()) {
    const std::string slot = gpu->pci ? plain_pci(*gpu->pci) : "";
    const bool is_there = slot.empty() || line.text.find(slot.substr(0, slot.rfind('.'))) != std::string::npos;
    if (!is_there) continue;
    // Memory that cannot be corrected, a lost bus, firmware that ended, links that broke.
    for (const char* number : {"48", "61", "62", "63", "64", "74", "79", "95", "119", "120", "140"}) {
      if (line.text.find(std::string("): ") + number, xid) != std::string::npos) return true;
    }
  }
  return false;
}

Finding refuses_everybody(const Scene& scene) {
  Finding found;
  if (!scene.machine()) return found;
  for (const auto& line : scene.machine()->kernel_log) {
    if (!is_of_device(scene, line)) continue;
    found.weight = Weight::likely;
    found.evidence.push_back(scene.from_probe("the kernel's log says: " + line.text, "system.kernel_log"));
  }
  if (scene.machine()->nvml.code == 15) {  // NVML_ERROR_GPU_IS_LOST
    found.weight = Weight::proven;
    found.evidence.push_back(scene.from_probe("NVML says that the GPU is lost", "nvml.code"));
  }
  return found;
}

const Cause causes[] = {
    {"device_refuses",
     "the device needs a reset, or an MPS server or a vGPU licence refuses it",
     "The device itself is in trouble.",
     "Reset the GPU (nvidia-smi -r, as root) or restart the machine.",
     "nvidia-smi -q and the kernel log",
     {46, 214, 999},
     refuses_everybody},
};

}  // namespace

Causes causes_in_health() { return causes; }

}  // namespace gpumem
