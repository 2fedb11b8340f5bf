#include "probe/system.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "probe/cgroup.hpp"
#include "probe/cuda_libraries.hpp"
#include "probe/files.hpp"
#include "probe/holders.hpp"
#include "probe/host_memory.hpp"
#include "probe/kernel_log.hpp"
#include "probe/services.hpp"

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

// Whether what /proc says of processes holds for the numbers that this one knows.
ordered_json state_of_proc() {
  struct statfs about {};
  if (::statfs("/proc", &about) != 0 || about.f_type != PROC_SUPER_MAGIC) return "missing";
  std::error_code ignored;
  const auto self = fs::read_symlink("/proc/self", ignored);
  return self == std::to_string(::getpid()) ? "ok" : "of another namespace";
}

double seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

ordered_json kernel_log(const FileText& log) {
  if (!log.text) return {{"lines", nullptr}, {"reason", log.reason}};
  return {{"lines", lines_that_matter(*log.text, seconds_of(CLOCK_MONOTONIC))}, {"reason", nullptr}};
}

// Without its log the kernel tells how often and how long it was suspended, but not when it resumed.
ordered_json times(const FileText& log) {
  const double boot = seconds_of(CLOCK_BOOTTIME);
  const double monotonic = seconds_of(CLOCK_MONOTONIC);
  const auto since_resume = seconds_since_resume(log.text.value_or(""), monotonic);
  return {{"since_boot_s", boot},
          {"suspended_s", std::max(0.0, boot - monotonic)},
          {"suspends", number_in("/sys/power/suspend_stats/success")},
          {"since_resume_s", since_resume ? ordered_json(*since_resume) : ordered_json()}};
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
  add("proc", state_of_proc);
  const auto log = read_kernel_log();
  add("kernel_log", [&log] { return kernel_log(log); });
  add("times", [&log] { return times(log); });
  add("host_memory", [] { return host_memory("/"); });
  add("libraries", [] {
    const char* search_path = std::getenv("LD_LIBRARY_PATH");
    return cuda_libraries("/", search_path ? search_path : "");
  });
  findings.doing("/proc");
  const auto scan = scan_processes("/proc");
  add("mps", [&scan] { return mps(scan); });
  add("fabric_manager", [&scan] { return fabric_manager("/", scan); });
  tell_holders(findings, scan, "/proc");
}

}  // namespace gpumem
