#include "probe/system.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "probe/cgroup.hpp"
#include "probe/files.hpp"

namespace gpumem {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* told_variables[] = {"CUDA_VISIBLE_DEVICES",
                                          "CUDA_DEVICE_ORDER",
                                          "CUDA_MODULE_LOADING",
                                          "CUDA_MPS_PIPE_DIRECTORY",
                                          "CUDA_MPS_LOG_DIRECTORY",
                                          "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                                          "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
                                          "NVIDIA_VISIBLE_DEVICES",
                                          "NVIDIA_DRIVER_CAPABILITIES",
                                          "LD_LIBRARY_PATH",
                                          "LD_PRELOAD"};

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

ordered_json kernel_modules() {
  const auto file = read_file("/proc/modules");
  if (!file.text) return nullptr;
  auto modules = ordered_json::array();
  std::istringstream lines(*file.text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("nvidia") && !line.starts_with("nouveau ")) continue;
    std::istringstream words(line);
    std::string name, used_by, state;
    std::uint64_t bytes = 0;
    std::int64_t users = 0;
    words >> name >> bytes >> users >> used_by >> state;
    modules.push_back({{"name", name}, {"users", users}, {"state", state}});
  }
  return modules;
}

ordered_json environment() {
  auto variables = ordered_json::object();
  for (const char* name : told_variables) {
    if (const char* value = std::getenv(name)) variables[name] = value;
  }
  return variables;
}

ordered_json container_marks() {
  auto marks = ordered_json::array();
  for (const char* file : {"/.dockerenv", "/run/.containerenv", "/.singularity.d"}) {
    if (is_there(file)) marks.push_back(file);
  }
  for (const char* variable :
       {"container", "KUBERNETES_SERVICE_HOST", "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"}) {
    if (std::getenv(variable)) marks.push_back(variable);
  }
  return marks;
}

// The numbers of this process from the outermost namespace that is seen here to its own.
ordered_json numbers_of_this_process() {
  const auto status = read_file("/proc/self/status");
  auto numbers = ordered_json::array();
  std::istringstream lines(status.text.value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::int64_t number = 0; words >> number;) numbers.push_back(number);
  }
  return numbers;
}

ordered_json pid_namespace() {
  constexpr ino_t initial = 0xEFFFFFFC;  // the kernel's PROC_PID_INIT_INO
  struct stat about {};
  const bool known = ::stat("/proc/self/ns/pid", &about) == 0;
  return {{"initial", known ? ordered_json(about.st_ino == initial) : ordered_json()},
          {"numbers", numbers_of_this_process()}};
}

ordered_json mps() {
  const char* chosen = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  const fs::path folder = chosen ? chosen : "/tmp/nvidia-mps";
  return {{"pipe_directory", folder.string()},
          {"chosen", chosen != nullptr},
          {"exists", is_there(folder)},
          {"control_exists", is_there(folder / "control")}};
}

double seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// The kernel tells how often and how long it was suspended, but not when it resumed.
ordered_json times() {
  const double boot = seconds_of(CLOCK_BOOTTIME);
  return {{"since_boot_s", boot},
          {"suspended_s", std::max(0.0, boot - seconds_of(CLOCK_MONOTONIC))},
          {"suspends", number_in("/sys/power/suspend_stats/success")},
          {"since_resume_s", nullptr}};
}

}  // namespace

void tell_system(Findings& findings) {
  const auto add = [&findings](const std::string& key, auto find) {
    findings.doing(key);
    findings.add("/" + key, find());
  };
  add("kernel_driver", [] { return read_file("/proc/driver/nvidia/version").first_line(); });
  add("kernel_modules", kernel_modules);
  add("environment", environment);
  add("cgroup_memory", [] { return cgroup_memory("/"); });
  add("container_marks", container_marks);
  add("pid_namespace", pid_namespace);
  add("mps", mps);
  add("times", times);
}

}  // namespace gpumem
