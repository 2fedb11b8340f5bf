// Driver and runtime that do not fit together.
#include <algorithm>
#include <cctype>

#include "analyze/runtimes.hpp"
#include "diagnose/cause.hpp"

namespace gpumem {
namespace {

Finding stub_driver(const Scene& scene) {
  const ModuleRecord* driver = driver_module(scene.process().all_modules);
  if (!driver || driver->path->find("/stubs/") == std::string::npos) return Finding::not_thought_of();
  return Finding::proven_by({scene.from_module("libcuda was loaded from " + *driver->path, *driver)});
}

// A runtime that found a driver asked it for functions, which tells its version.
bool has_seen_driver(const Scene& scene) {
  const auto runtimes = find_runtimes(scene.process().all_modules);
  return driver_module(scene.process().all_modules) ||
         std::any_of(runtimes.begin(), runtimes.end(),
                     [](const RuntimeLibrary& each) { return each.version.has_value(); });
}

Finding no_driver_library(const Scene& scene) {
  if (has_seen_driver(scene)) return Finding::not_thought_of();
  Finding found;
  found.weight = Weight::likely;
  found.evidence = {scene.from_failure("no file with the driver's functions was seen in this process")};
  const auto capabilities = scene.variable("NVIDIA_DRIVER_CAPABILITIES");
  if (capabilities && capabilities->find("compute") == std::string::npos && *capabilities != "all") {
    found.weight = Weight::proven;
    found.evidence.push_back(scene.from_variable(
        "NVIDIA_DRIVER_CAPABILITIES is \"" + *capabilities + "\": without \"compute\" the container gets no libcuda",
        "NVIDIA_DRIVER_CAPABILITIES"));
    found.advice = {"Start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility."};
  }
  if (scene.machine()) {
    for (const auto& [path, _] : scene.machine()->libraries) {
      if (path.find("libcuda.so") == std::string::npos) continue;
      found.evidence.push_back(scene.from_probe("there is one at " + path, "system.libraries"));
    }
  }
  return found;
}

// The first driver of each major version of CUDA, as NVIDIA's release notes list them (Linux, x86-64).
std::string oldest_driver_for(std::uint64_t runtime) {
  switch (runtime / 1000) {
    case 10: return "410.48";
    case 11: return "450.80.02";
    case 12: return "525.60.13";
    case 13: return "580.65.06";
  }
  return "";
}

Finding runtime_newer_than_driver(const Scene& scene) {
  if (!has_seen_driver(scene)) return Finding::not_thought_of();
  Finding found;
  found.weight = Weight::proven;
  for (const auto& runtime : find_runtimes(scene.process().all_modules)) {
    std::string text = runtime.describe() + " is in use";
    if (runtime.version) {
      const auto driver = oldest_driver_for(*runtime.version);
      if (!driver.empty()) text += ", and needs driver " + driver + " or newer";
    }
    const ModuleRecord& module = scene.process().all_modules.at(runtime.module);
    found.evidence.push_back(scene.from_module(std::move(text), module));
  }
  if (const auto& kernel = scene.process().process.kernel_driver)
    found.evidence.push_back(scene.from_process("the kernel driver is " + *kernel, "kernel_driver"));
  if (const ModuleRecord* driver = driver_module(scene.process().all_modules))
    found.evidence.push_back(scene.from_module("libcuda is " + *driver->path, *driver));
  if (scene.nvml_answered()) {
    const Nvml& nvml = scene.machine()->nvml;
    std::string text = "NVML says that the driver is " + nvml.driver_version;
    if (nvml.cuda_version) text += ", for CUDA " + version_text(*nvml.cuda_version);
    found.evidence.push_back(scene.from_probe(std::move(text), "nvml.driver_version"));
  }
  if (scene.machine()) {
    for (const auto& [path, _] : scene.machine()->libraries) {
      const bool is_loaded = scene.module_named(path) != nullptr;
      if (path.find("libcudart.so") != std::string::npos && !is_loaded)
        found.evidence.push_back(scene.from_probe("another runtime lies at " + path, "system.libraries"));
    }
  }
  if (find_runtimes(scene.process().all_modules).empty()) found.weight = Weight::likely;
  return found;
}

// The name of a loaded library is a link's, and only the file behind it has a version in its own.
std::string file_behind(const Scene& scene, const std::string& path) {
  for (const auto& library : scene.machine() ? scene.machine()->libraries : std::vector<LibraryFile>()) {
    if (library.path == path) return library.target.value_or(path);
  }
  return path;
}

// "libcuda.so.550.163.01" -> "550.163.01"
std::string version_in(const std::string& text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) || text[end] == '.')) ++end;
  return text.substr(from, end - from);
}

std::string kernel_version(const std::string& line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool starts_word = at == 0 || line[at - 1] == ' ';
    if (!starts_word || !std::isdigit(static_cast<unsigned char>(line[at]))) continue;
    const std::string version = version_in(line, at);
    if (version.size() >= 6 && version.find('.') != std::string::npos) return version;
  }
  return "";
}

Finding driver_mismatch(const Scene& scene) {
  Finding found;
  const bool says_so = scene.code() == 803;
  if (const ModuleRecord* compat = driver_module(scene.process().all_modules);
      !says_so && compat && compat->path->find("compat") != std::string::npos)
    return Finding::not_thought_of();                         // meant to differ
  if (scene.machine() && scene.machine()->nvml.code == 18) {  // NVML_ERROR_LIB_RM_VERSION_MISMATCH
    found.weight = Weight::proven;
    found.evidence.push_back(
        scene.from_probe("NVML says that library and kernel driver have different versions", "nvml.code"));
  }
  const auto& kernel = scene.process().process.kernel_driver;
  const std::string running = kernel ? kernel_version(*kernel) : "";
  const ModuleRecord* driver = driver_module(scene.process().all_modules);
  const std::string file = driver ? file_behind(scene, *driver->path) : "";
  const auto at = file.rfind("libcuda.so.");
  const std::string library = at == std::string::npos ? "" : version_in(file, at + 11);
  if (running.empty() || library.find('.') == std::string::npos) return found;
  if (running == library)
    return Finding::ruled_out_by(scene.from_module("libcuda and the kernel driver are both " + running, *driver));
  found.weight = std::max(found.weight, Weight::likely);
  found.evidence.push_back(scene.from_module("libcuda is " + library + " (" + file + ")", *driver));
  found.evidence.push_back(scene.from_process("the kernel driver is " + running, "kernel_driver"));
  return found;
}

Finding compat_driver(const Scene& scene) {
  const ModuleRecord* driver = driver_module(scene.process().all_modules);
  if (!driver || driver->path->find("compat") == std::string::npos) {
    if (!driver) return {};
    return Finding::ruled_out_by(scene.from_module("libcuda is " + *driver->path, *driver));
  }
  Finding found;
  found.weight = scene.code() == 804 ? Weight::proven : Weight::likely;
  found.evidence = {
      scene.from_module("libcuda was loaded from " + *driver->path + ", a forward-compatibility folder", *driver)};
  if (const auto& kernel = scene.process().process.kernel_driver)
    found.evidence.push_back(scene.from_process("the kernel driver is " + *kernel, "kernel_driver"));
  for (const Gpu* gpu : scene.gpus()) {
    if (gpu->name) found.evidence.push_back(scene.from_probe("the device is a " + *gpu->name, "nvml.devices"));
  }
  return found;
}

const Cause causes[] = {
    {"stub_driver",
     "the toolkit's stub was loaded in place of the driver",
     "The toolkit's stub was loaded in place of the driver.",
     "Remove the stubs folder from LD_LIBRARY_PATH; it is for linking only.",
     "the path of libcuda",
     {34, 35, 100},
     stub_driver,
     true},
    {"no_driver_library",
     "no driver library (libcuda.so.1) was found",
     "No driver library (libcuda.so.1) was found.",
     "Install the driver, or start the container with access to the GPU; the loader must find libcuda.so.1.",
     "ldconfig -p | grep libcuda",
     {35},
     no_driver_library,
     true},
    {"driver_too_old",
     "the driver is older than the CUDA runtime needs",
     "The installed driver is older than the CUDA runtime in this program needs.",
     "Update the driver, or use a build with an older CUDA runtime.",
     "nvidia-smi",
     {35, 36},
     runtime_newer_than_driver},
    {"compat_driver",
     "a forward-compatibility libcuda is used on hardware that does not allow it",
     "A forward-compatibility libcuda is used in place of the driver's own.",
     "Remove the compat folder from the loader's path (LD_LIBRARY_PATH, /etc/ld.so.conf.d, or the image's cuda-compat "
     "package).",
     "the path of libcuda in the process",
     {803, 804},
     compat_driver},
    {"driver_mismatch",
     "the driver library and the kernel driver do not fit together",
     "The driver library and the kernel driver are of different versions.",
     "Restart the machine, or reload the kernel modules, after an update of the driver; in a container, use the host's "
     "libcuda.",
     "nvidia-smi and the path of libcuda",
     {2, 100, 803, 999},
     driver_mismatch},
};

}  // namespace

Causes causes_in_driver() { return causes; }

}  // namespace gpumem
