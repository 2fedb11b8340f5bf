#include "probe/nvml.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "probe/nvml_api.hpp"
#include "probe/process_facts.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

using namespace nvml;
using nlohmann::ordered_json;

// All ones stand for "not available".
template <class Number>
ordered_json known(Number value) {
  return value == static_cast<Number>(-1) ? ordered_json() : ordered_json(value);
}

ordered_json facts_of(const ProcessV1& process) { return {{"pid", process.pid}, {"used_bytes", known(process.used)}}; }

ordered_json facts_of(const Process& process) {
  return {{"pid", process.pid},
          {"used_bytes", known(process.used)},
          {"gpu_instance", known(process.gpu_instance)},
          {"compute_instance", known(process.compute_instance)}};
}

ordered_json compute_mode_text(int mode) {
  const auto index = static_cast<std::size_t>(mode);
  return index < std::size(schema::compute_modes) ? ordered_json(schema::compute_modes[index]) : ordered_json(mode);
}

class Conversation {
 public:
  Conversation(Findings& findings, const Library& library) : findings_(findings), nvml_(library) {}

  void start() {
    if (const Result result = ask(nvml_.nvmlInit_v2); result != success) {
      findings_.add("/status", "refused");
      findings_.add("/code", result);
      findings_.add("/text", text_of(result));
      return;
    }
    tell_text("", "driver_version", nvml_.nvmlSystemGetDriverVersion);
    int cuda = 0;
    if (answered("", "cuda_driver_version", nvml_.nvmlSystemGetCudaDriverVersion_v2, &cuda)) {
      findings_.add("/cuda_driver_version", cuda);
    }
    findings_.add("/devices", ordered_json::array());
    unsigned count = 0;
    if (!answered("", "devices", nvml_.nvmlDeviceGetCount_v2, &count)) return;
    for (unsigned i = 0; i < count; ++i) tell_device(i);
    tell_processes();
  }

 private:
  template <class... Parameters, class... Arguments>
  Result ask(const Function<Result(Parameters...)>& function, Arguments... arguments) {
    findings_.doing(function.symbol);
    return function.address ? function.address(arguments...) : function_not_found;
  }

  ordered_json text_of(Result result) const {
    const char* text = nvml_.nvmlErrorString ? nvml_.nvmlErrorString(result) : nullptr;
    return text ? ordered_json(text) : ordered_json();
  }

  // What is not answered is null, and the owner's list "unanswered" says why.
  void tell_unanswered(const std::string& owner, const std::string& field, const char* call, Result result) {
    findings_.add(owner + "/" + field, nullptr);
    findings_.add(owner + "/unanswered/-", {{"call", call}, {"code", result}, {"text", text_of(result)}});
  }

  template <class Signature, class... Arguments>
  bool answered(const std::string& owner, const std::string& field, const Function<Signature>& function,
                Arguments... arguments) {
    const Result result = ask(function, arguments...);
    if (result != success) tell_unanswered(owner, field, function.symbol, result);
    return result == success;
  }

  template <class Signature, class... Subject>
  void tell_text(const std::string& owner, const std::string& field, const Function<Signature>& function,
                 Subject... subject) {
    char text[256] = "";
    if (answered(owner, field, function, subject..., text, static_cast<unsigned>(sizeof text))) {
      findings_.add(owner + "/" + field, text);
    }
  }

  void tell_device(unsigned index) {
    const std::string owner = "/devices/" + std::to_string(index);
    findings_.add(owner + "/index", index);
    Device device = nullptr;
    if (!answered(owner, "uuid", nvml_.nvmlDeviceGetHandleByIndex_v2, index, &device)) return;
    tell_text(owner, "uuid", nvml_.nvmlDeviceGetUUID, device);
    Pci pci{};
    if (answered(owner, "pci_bus_id", nvml_.nvmlDeviceGetPciInfo_v3, device, &pci)) {
      findings_.add(owner + "/pci_bus_id", pci.id);
    }
    tell_text(owner, "name", nvml_.nvmlDeviceGetName, device);
    tell_memory(owner, device);
    int mode = 0;
    if (answered(owner, "compute_mode", nvml_.nvmlDeviceGetComputeMode, device, &mode)) {
      findings_.add(owner + "/compute_mode", compute_mode_text(mode));
    }
    if (answered(owner, "persistence", nvml_.nvmlDeviceGetPersistenceMode, device, &mode)) {
      findings_.add(owner + "/persistence", mode != 0);
    }
    tell_mig(owner, device);
    tell_users(owner, device);
  }

  void tell_memory(const std::string& owner, Device device) {
    Memory first{};
    if (answered(owner, "memory", nvml_.nvmlDeviceGetMemoryInfo, device, &first)) {
      findings_.add(owner + "/memory",
                    {{"total_bytes", first.total}, {"free_bytes", first.free}, {"used_bytes", first.used}});
    }
    MemoryV2 second{};
    if (answered(owner, "memory_v2", nvml_.nvmlDeviceGetMemoryInfo_v2, device, &second)) {
      findings_.add(owner + "/memory_v2", {{"total_bytes", second.total},
                                           {"reserved_bytes", second.reserved},
                                           {"free_bytes", second.free},
                                           {"used_bytes", second.used}});
    }
  }

  void tell_mig(const std::string& owner, Device device) {
    unsigned current = 0;
    unsigned pending = 0;
    if (!answered(owner, "mig", nvml_.nvmlDeviceGetMigMode, device, &current, &pending)) return;
    findings_.add(owner + "/mig", {{"current", current != 0}, {"pending", pending != 0}});
    unsigned most = 0;
    if (!current || !answered(owner, "mig/instances", nvml_.nvmlDeviceGetMaxMigDeviceCount, device, &most)) return;
    findings_.add(owner + "/mig/instances", ordered_json::array());
    for (unsigned i = 0, found = 0; i < most; ++i) {
      Device instance = nullptr;
      const auto& function = nvml_.nvmlDeviceGetMigDeviceHandleByIndex;
      const Result result = ask(function, device, i, &instance);
      if (result == not_found) continue;  // numbers without an instance lie between those with one
      if (result != success) return tell_unanswered(owner, "mig/instances", function.symbol, result);
      tell_instance(owner + "/mig/instances/" + std::to_string(found++), instance);
    }
  }

  void tell_instance(const std::string& owner, Device instance) {
    tell_text(owner, "uuid", nvml_.nvmlDeviceGetUUID, instance);
    tell_text(owner, "name", nvml_.nvmlDeviceGetName, instance);
    unsigned id = 0;
    if (answered(owner, "gpu_instance", nvml_.nvmlDeviceGetGpuInstanceId, instance, &id)) {
      findings_.add(owner + "/gpu_instance", id);
    }
    if (answered(owner, "compute_instance", nvml_.nvmlDeviceGetComputeInstanceId, instance, &id)) {
      findings_.add(owner + "/compute_instance", id);
    }
    tell_memory(owner, instance);
  }

  void tell_users(const std::string& owner, Device device) {
    tell_list(owner, "compute", device, nvml_.nvmlDeviceGetComputeRunningProcesses_v3,
              nvml_.nvmlDeviceGetComputeRunningProcesses_v2, nvml_.nvmlDeviceGetComputeRunningProcesses);
    tell_list(owner, "graphics", device, nvml_.nvmlDeviceGetGraphicsRunningProcesses_v3,
              nvml_.nvmlDeviceGetGraphicsRunningProcesses_v2, nvml_.nvmlDeviceGetGraphicsRunningProcesses);
    tell_list(owner, "mps", device, nvml_.nvmlDeviceGetMPSComputeRunningProcesses_v3,
              nvml_.nvmlDeviceGetMPSComputeRunningProcesses_v2, nvml_.nvmlDeviceGetMPSComputeRunningProcesses);
  }

  // The newest that the library has: each fills the structure of its own version.
  template <class Newest, class... Older>
  void tell_list(const std::string& owner, const std::string& kind, Device device, const Newest& newest,
                 const Older&... older) {
    if constexpr (sizeof...(older) > 0) {
      if (!newest.address) return tell_list(owner, kind, device, older...);
    }
    tell_list_of(owner, "processes/" + kind, device, newest);
  }

  template <class Info>
  void tell_list_of(const std::string& owner, const std::string& field, Device device,
                    const Function<Result(Device, unsigned*, Info*)>& function) {
    unsigned count = 0;
    Result result = ask(function, device, &count, static_cast<Info*>(nullptr));
    std::vector<Info> infos;
    constexpr int most_tries = 8;  // the list may have grown between two calls
    for (int i = 0; i < most_tries && (result == insufficient_size || (result == success && count > infos.size()));
         ++i) {
      infos.resize(std::max<std::size_t>(count, infos.size()) + 16);
      count = static_cast<unsigned>(infos.size());
      result = ask(function, device, &count, infos.data());
    }
    if (result != success) return tell_unanswered(owner, field, function.symbol, result);
    infos.resize(std::min<std::size_t>(count, infos.size()));
    auto list = ordered_json::array();
    for (const auto& info : infos) {
      list.push_back(facts_of(info));
      pids_.insert(info.pid);
    }
    findings_.add(owner + "/" + field, list);
  }

  void tell_processes() {
    findings_.add("/processes", ordered_json::array());
    for (const unsigned pid : pids_) {
      findings_.doing("/proc/" + std::to_string(pid));
      findings_.add("/processes/-", process_facts(pid));
    }
  }

  Findings& findings_;
  const Library& nvml_;
  std::set<unsigned> pids_;
};

}  // namespace

void tell_nvml(Findings& findings) {
  findings.add("/path", nullptr);
  findings.doing("dlopen");
  void* handle = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    findings.add("/status", "absent");
    findings.add("/reason", ::dlerror());
    return;
  }
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) findings.add("/path", map->l_name);
  const Library library = functions_of(handle);
  Conversation(findings, library).start();
}

}  // namespace gpumem
