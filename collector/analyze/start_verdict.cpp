#include <algorithm>
#include <functional>
#include <iterator>

#include "analyze/diagnosis.hpp"
#include "analyze/error_codes.hpp"
#include "analyze/sizes.hpp"

namespace gpumem {
namespace {

using Evidence = std::vector<std::string>;

struct StartCase {
  const FailureRecord& failure;
  const ProcessFacts& facts;
};

std::optional<std::string> variable(const StartCase& at, const char* name) {
  if (const auto now = at.failure.env_now.find(name); now != at.failure.env_now.end()) return now->second;
  const auto found = at.facts.process.env.find(name);
  return found == at.facts.process.env.end() ? std::nullopt : std::optional(found->second);
}

bool has_module(const StartCase& at, std::string_view part) {
  return std::any_of(at.facts.all_modules.begin(), at.facts.all_modules.end(), [part](const auto& entry) {
    return entry.second.path && entry.second.path->find(part) != std::string::npos;
  });
}

Evidence forked_after_init(const StartCase& at) {
  const auto& origin = at.facts.process.forked_from;
  if (!origin || !origin->initialized) return {};
  return {"process " + std::to_string(origin->pid) + " had started CUDA before it forked this one"};
}

Evidence address_space_limited(const StartCase& at) {
  const auto limit = at.facts.process.limit_as;
  if (!limit) return {};
  return {"RLIMIT_AS is " + bytes_text(*limit) + ", and the driver reserves far more address space than it uses"};
}

Evidence sanitizer_loaded(const StartCase& at) {
  if (!has_module(at, "/libasan.so") && !has_module(at, "libclang_rt.asan")) return {};
  return {
      "the AddressSanitizer runtime is loaded, whose protected shadow gap lies where the driver reserves addresses"};
}

Evidence no_kernel_driver(const StartCase& at) {
  if (at.facts.process.kernel_driver) return {};
  return {"/proc/driver/nvidia/version does not exist, so no NVIDIA kernel driver is loaded here"};
}

Evidence devices_hidden(const StartCase& at) {
  const auto visible = variable(at, "CUDA_VISIBLE_DEVICES");
  if (!visible) return {};
  if (!visible->empty() && !visible->starts_with("-1") && *visible != "NoDevFiles") return {};
  return {"CUDA_VISIBLE_DEVICES is \"" + *visible + "\", which hides every device"};
}

Evidence visible_list(const StartCase& at) {
  const auto visible = variable(at, "CUDA_VISIBLE_DEVICES");
  if (!visible || visible->empty()) return {};
  return {"CUDA_VISIBLE_DEVICES is \"" + *visible + "\", and ordinals count within this list"};
}

Evidence compat_driver(const StartCase& at) {
  const auto path = driver_library(at.facts.all_modules);
  if (!path || path->find("compat") == std::string::npos) return {};
  return {"libcuda was loaded from " + *path + ", a forward-compatibility folder"};
}

Evidence stub_driver(const StartCase& at) {
  const auto path = driver_library(at.facts.all_modules);
  if (!path || path->find("/stubs/") == std::string::npos) return {};
  return {"libcuda was loaded from " + *path};
}

// A runtime that found a driver asked it for functions, which tells its version.
Evidence no_driver_library(const StartCase& at) {
  if (driver_library(at.facts.all_modules)) return {};
  for (const auto& runtime : find_runtimes(at.facts.all_modules))
    if (runtime.version) return {};
  return {"no file with the driver's functions was seen in this process"};
}

Evidence runtime_and_driver(const StartCase& at) {
  Evidence found;
  for (const auto& runtime : find_runtimes(at.facts.all_modules)) found.push_back(runtime.describe() + " is in use");
  if (at.facts.process.kernel_driver) found.push_back("the kernel driver is " + *at.facts.process.kernel_driver);
  return found;
}

Evidence mps_configured(const StartCase& at) {
  const auto pipe = variable(at, "CUDA_MPS_PIPE_DIRECTORY");
  if (!pipe) return {};
  return {"CUDA_MPS_PIPE_DIRECTORY is \"" + *pipe + "\""};
}

struct KnownCause {
  std::int64_t code;
  Certainty sureness;
  Evidence (*find)(const StartCase&);
  const char* verdict;
  const char* advice;
};

// The first row of the code whose evidence is there gives the verdict.
const KnownCause known_causes[] = {
    {2, Certainty::likely, address_space_limited,
     "The limit on address space leaves the driver no room; this says nothing about the GPU's memory.",
     "Run without \"ulimit -v\" (RLIMIT_AS unlimited)."},
    {2, Certainty::likely, sanitizer_loaded,
     "AddressSanitizer blocks the driver's address reservation; this says nothing about the GPU's memory.",
     "Run with ASAN_OPTIONS=protect_shadow_gap=0."},
    {3, Certainty::proven, forked_after_init, "CUDA does not survive fork: the parent had already started it.",
     "Start workers by spawn or exec, or make the first CUDA call (a device count is one) only in the child."},
    {34, Certainty::proven, stub_driver, "The toolkit's stub was loaded in place of the driver.",
     "Remove the stubs folder from LD_LIBRARY_PATH; it is for linking only."},
    {35, Certainty::likely, no_driver_library, "No driver library (libcuda.so.1) was found.",
     "Install the driver, or start the container with access to the GPU; the loader must find libcuda.so.1."},
    {35, Certainty::proven, runtime_and_driver,
     "The installed driver is older than the CUDA runtime in this program needs.",
     "Update the driver, or use a build with an older CUDA runtime."},
    {100, Certainty::proven, devices_hidden, "The environment hides every GPU from this process.",
     "Unset CUDA_VISIBLE_DEVICES or name a device."},
    {100, Certainty::likely, no_kernel_driver,
     "No NVIDIA kernel driver is loaded on this machine or in this container.",
     "Load the driver (nvidia-smi must work here), or start the container with access to the GPU."},
    {101, Certainty::likely, visible_list, "The program asked for a device number beyond the visible list.",
     "Ordinals start at 0 within CUDA_VISIBLE_DEVICES."},
    {803, Certainty::likely, compat_driver, "A forward-compatibility libcuda is used in place of the driver's own.",
     "Remove the compat folder from the loader's path."},
    {804, Certainty::proven, compat_driver,
     "A forward-compatibility libcuda is used on hardware that does not allow it.",
     "Remove the compat folder from the loader's path."},
    {805, Certainty::likely, mps_configured, "The MPS control daemon cannot be reached through that folder.",
     "Start nvidia-cuda-mps-control there, make the folder visible in the container, or unset the variable."},
};

struct OpenCause {
  std::int64_t code;
  const char* cause;
  const char* decided_by;
};

const OpenCause open_causes[] = {
    {2, "other processes hold the device's memory",
     "nvidia-smi at the time of the failure: used memory and its processes"},
    {2, "host memory or a container's memory limit is exhausted", "the cgroup's memory.events and the kernel log"},
    {2, "the driver library and the kernel driver do not fit together", "nvidia-smi and the libcuda path above"},
    {3, "a CUDA call came before cuInit, or after the driver had shut down", "the calls before it in the journal"},
    {3, "the parent started CUDA before it forked this process, unseen by gpumem",
     "running the parent under gpumem too"},
    {46, "the device is in an exclusive compute mode and another process, or another context of this one, holds it",
     "nvidia-smi -q -d COMPUTE, and its list of processes"},
    {46, "the device needs a reset, or an MPS server or a vGPU licence refuses it", "nvidia-smi -q and the kernel log"},
    {100, "the container or the user has no access to /dev/nvidia*", "ls -l /dev/nvidia* as this user"},
    {100, "the driver found no working device", "nvidia-smi -L and the kernel log"},
    {101, "the device number is beyond the devices of this machine", "nvidia-smi -L"},
    {200, "the program holds no code that this GPU can load", "cuobjdump --list-elf of the program and its libraries"},
    {209, "the program holds no code for this generation of GPU",
     "cuobjdump --list-elf of the program and its libraries"},
    {802, "an NVSwitch machine whose fabric manager does not run, or has another version than the driver",
     "systemctl status nvidia-fabricmanager"},
    {803, "the driver was updated without reloading the kernel module", "a reboot, or nvidia-smi's own error text"},
    {804, "a forward-compatibility libcuda on hardware that does not allow it", "the path of libcuda in the process"},
    {805, "the MPS control daemon does not run, or cannot be reached from here", "ls of the MPS pipe directory"},
    {999, "/dev/nvidia-uvm is missing or cannot be opened", "ls -l /dev/nvidia-uvm as this user; nvidia-modprobe -u"},
    {999, "the kernel module lost its state over a suspend", "reloading nvidia_uvm, or a reboot"},
};

std::vector<std::string> changed_variables(const FailureRecord& failure) {
  std::vector<std::string> clauses;
  for (const auto& [name, value] : failure.env_now) {
    clauses.push_back(name + (value ? " had become \"" + *value + "\"" : std::string(" had been unset")) +
                      " since the start of the journal");
  }
  return clauses;
}

}  // namespace

Diagnosis diagnose_start(const FailureGroup& group, const ProcessFacts& facts) {
  const StartCase at{group.first, facts};
  const std::int64_t code = deciding_code(group.first, facts.all_modules);
  Diagnosis result;
  for (const auto& cause : known_causes) {
    if (cause.code != code) continue;
    result.evidence = cause.find(at);
    if (result.evidence.empty()) continue;
    result.sureness = cause.sureness;
    result.verdict = cause.verdict;
    result.advice = cause.advice;
    break;
  }
  if (result.verdict.empty()) {
    const auto* meaning = find_code(code);
    result.verdict = "CUDA did not start: " +
                     (meaning ? std::string(meaning->meaning) : "the code " + std::to_string(code) + " is not known") +
                     ".";
    for (const auto& open : open_causes) {
      if (open.code == code) result.candidates.push_back({open.cause, open.decided_by});
    }
    if (code == 2) {
      result.evidence.push_back(
          "the journal holds no figure of free device memory at that moment, so it does not show "
          "whether the GPU was full");
    }
    for (auto& clause : runtime_and_driver(at)) result.evidence.push_back(std::move(clause));
    if (const auto path = driver_library(facts.all_modules)) result.evidence.push_back("libcuda is " + *path);
  }
  for (auto& clause : changed_variables(group.first)) result.evidence.push_back(std::move(clause));
  return result;
}

}  // namespace gpumem
