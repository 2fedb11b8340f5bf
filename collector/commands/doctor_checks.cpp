#include "commands/doctor_checks.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "analyze/error_codes.hpp"
#include "analyze/runtimes.hpp"
#include "analyze/sizes.hpp"
#include "diagnose/neighbours.hpp"
#include "schema.hpp"

extern char** environ;

namespace gpumem {
namespace {

using nlohmann::ordered_json;

std::string text_in(const ordered_json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<std::int64_t> number_in(const ordered_json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? std::optional(found->get<std::int64_t>()) : std::nullopt;
}

bool has_returned(const ordered_json& attempt) {
  const std::string status = text_in(attempt, "status");
  return status == "ok" || status == "absent";
}

bool has_started(const ordered_json& attempt) {
  return text_in(attempt, "status") == "ok" && !number_in(attempt, "code");
}

// Those that NVML told of, and how the driver numbers them.
std::string gpu_text(const Gpu& gpu) {
  std::string text = gpu.name.value_or("a device without a name");
  if (gpu.pci) text += ", " + plain_pci(*gpu.pci);
  if (gpu.free && gpu.total) text += ": " + bytes_text(*gpu.free) + " free of " + bytes_text(*gpu.total);
  text += ", compute mode " + gpu.compute_mode.value_or("not known");
  if (gpu.mig_enabled) text += ", MIG with " + count_of(gpu.instances.size(), "instance");
  if (gpu.users_known) text += ", used by " + count_of(gpu.users.size(), "process");
  return text;
}

Check check_nodes(const Machine& machine) {
  std::string bad, good;
  for (const auto& node : machine.nodes) {
    const bool is_needed = node.path == "/dev/nvidiactl" || node.path == "/dev/nvidia-uvm" ||
                           node.path.find_first_of("0123456789") == std::string("/dev/nvidia").size();
    if (!is_needed) continue;
    const bool is_usable = node.exists && node.open == "ok";
    std::string& list = is_usable ? good : bad;
    list += (list.empty() ? "" : ", ") + node.path;
    if (!is_usable) list += node.exists ? " (" + node.open.value_or("no answer") + ")" : " (missing)";
  }
  if (bad.empty()) return {!good.empty(), "Device files", good.empty() ? "none is known" : good + " can be opened"};
  return {false, "Device files", bad + (good.empty() ? "" : "; usable: " + good)};
}

Check check_nvml(const Machine& machine) {
  const Nvml& nvml = machine.nvml;
  if (nvml.status == "ok") {
    return {true, "NVML", "driver " + nvml.driver_version + ", " + count_of(machine.gpus.size(), "device")};
  }
  return {false, "NVML", nvml.status + (nvml.trouble.empty() ? "" : ": " + nvml.trouble)};
}

Check check_limits() {
  rlimit as{}, files{};
  ::getrlimit(RLIMIT_AS, &as);
  ::getrlimit(RLIMIT_NOFILE, &files);
  const bool is_limited = as.rlim_cur != RLIM_INFINITY;
  return {!is_limited, "Limits",
          (is_limited ? "address space: " + bytes_text(as.rlim_cur) : std::string("address space: none")) +
              "; descriptors: " + grouped(files.rlim_cur)};
}

Check check_memory(const Machine& machine) {
  std::string text = machine.host_available ? bytes_text(*machine.host_available) + " of RAM available" : "not known";
  bool is_good = true;
  for (const auto& group : machine.groups) {
    if (!group.limit || !group.used || (machine.host_total && *group.limit > *machine.host_total)) continue;
    text += "; " + group.folder + " uses " + bytes_text(*group.used) + " of " + bytes_text(*group.limit);
    is_good = is_good && !group.is_at_limit();
  }
  return {is_good, "Host memory", text};
}

void read_own_environment(ProcessRecord& process) {
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) process.env.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
}

ProcessAnalysis own_process(const Machine& machine, const ordered_json& attempt) {
  ProcessAnalysis own;
  own.process.pid = ::getpid();
  own.process.ppid = ::getppid();
  own.process.argv = {"gpumem", "doctor"};
  own.process.kernel_driver = machine.kernel_driver;
  read_own_environment(own.process);
  if (const auto path = text_in(attempt, "path"); !path.empty()) {
    ModuleRecord& driver = own.all_modules[1];
    driver.id = 1;
    driver.path = path;
    driver.role = schema::role::driver;
  }
  for (const auto& each : attempt.value("devices", ordered_json::array())) {
    DeviceRecord device;
    device.device = static_cast<DeviceOrdinal>(number_in(each, "ordinal").value_or(0));
    device.uuid = text_in(each, "uuid");
    device.pci = text_in(each, "pci");
    device.name = text_in(each, "name");
    own.devices[device.device] = device;
  }
  return own;
}

StateRecord own_state() {
  StateRecord state;
  const auto soft = [](auto resource) -> std::optional<std::uint64_t> {
    rlimit limit{};
    const bool is_limited = ::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_limited ? std::optional<std::uint64_t>(limit.rlim_cur) : std::nullopt;
  };
  state.limits.address_space = soft(RLIMIT_AS);
  state.limits.open_files = soft(RLIMIT_NOFILE);
  return state;
}

// Nothing here is from a journal.
void forget_lines(std::vector<Evidence>& all) {
  for (auto& evidence : all) evidence.line.reset();
}

}  // namespace

std::string outcome_text(const ordered_json& attempt) {
  if (text_in(attempt, "status") == "absent") return "libcuda.so.1 cannot be loaded: " + text_in(attempt, "reason");
  if (!has_returned(attempt)) {
    return text_in(attempt, "in") + (text_in(attempt, "status") == "timed out"
                                         ? " did not return"
                                         : ": the attempt " + text_in(attempt, "status"));
  }
  const auto code = number_in(attempt, "code");
  if (!code) {
    std::string text = "cuInit succeeded, and so did a context on each of " +
                       count_of(attempt.value("devices", ordered_json::array()).size(), "device");
    if (const auto version = number_in(attempt, "driver_version"))
      text += "; the driver is for CUDA " + version_text(static_cast<std::uint64_t>(*version));
    return text;
  }
  const auto* meaning = find_code(*code);
  std::string text = text_in(attempt, "call") + " answered " + std::to_string(*code);
  if (meaning) text += " (" + std::string(meaning->driver_name) + ")";
  if (const auto device = number_in(attempt, "device")) text += " on GPU " + std::to_string(*device);
  return text;
}

std::vector<Check> checks_of(const Machine& machine, const ordered_json& attempt) {
  std::vector<Check> checks;
  checks.push_back({has_started(attempt), "Start", outcome_text(attempt)});
  if (const auto path = text_in(attempt, "path"); !path.empty()) checks.push_back({true, "libcuda", path});
  checks.push_back({machine.kernel_driver.has_value(), "Kernel driver",
                    machine.kernel_driver.value_or("none: /proc/driver/nvidia/version does not exist")});
  checks.push_back(check_nvml(machine));
  checks.push_back(check_nodes(machine));
  for (const auto& gpu : machine.gpus) {
    constexpr std::uint64_t little = 600ull << 20;  // a context takes 300 to 600 MiB
    const bool is_good = gpu.free.value_or(little) >= little && gpu.compute_mode.value_or("default") == "default";
    checks.push_back({is_good, "GPU " + std::to_string(gpu.index), gpu_text(gpu)});
  }
  if (const char* visible = ::getenv("CUDA_VISIBLE_DEVICES"))
    checks.push_back({*visible != '\0', "CUDA_VISIBLE_DEVICES", visible});
  checks.push_back(check_limits());
  checks.push_back(check_memory(machine));
  return checks;
}

std::optional<Diagnosis> diagnose_attempt(const ordered_json& probe, const ordered_json& attempt) {
  if (has_started(attempt)) return std::nullopt;
  const Machine machine = read_machine(probe);
  ProcessAnalysis own = own_process(machine, attempt);
  FailureGroup group;
  group.count = 1;
  group.first.api = text_in(attempt, "call");
  group.first.tried = number_in(attempt, "device") ? schema::op::context : schema::op::init;
  group.first.start = true;
  constexpr std::int64_t no_driver = 35;
  group.first.code = number_in(attempt, "code").value_or(no_driver);
  if (const auto device = number_in(attempt, "device")) group.first.device = static_cast<DeviceOrdinal>(*device);
  group.state = own_state();
  group.probe = ProbeRecord{{}, "ok", "", 0, probe.dump()};
  Diagnosis why;
  if (has_returned(attempt)) {
    Neighbourhood nobody;
    why = diagnose(group, own, nobody);
  } else {
    why.verdict = "CUDA did not start: " + outcome_text(attempt) + ".";
    why.advice = {
        "A call that hangs here waits for the driver or for an MPS daemon: look at the kernel's log, and at "
        "nvidia-cuda-mps-control."};
  }
  forget_lines(why.evidence);
  for (auto& each : why.candidates) forget_lines(each.evidence), forget_lines(each.against);
  for (auto& each : why.ruled_out) forget_lines(each.against);
  return why;
}

}  // namespace gpumem
