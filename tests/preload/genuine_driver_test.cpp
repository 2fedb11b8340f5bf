// Genuine drivers on a machine without a device, no driver, and the toolkit's stand-in for one: each start fails for a
// reason of its own, and gpumem tells which.
#include <dlfcn.h>

#include "genuine.hpp"

using namespace gpumem::test;

namespace {

struct Expected {
  int code;
  const char* text;
  const char* verdict;
};

const Expected no_device = {100, "no CUDA-capable device is detected", "No NVIDIA kernel driver is loaded"};
const Expected too_old = {35, "CUDA driver version is insufficient for CUDA runtime version",
                          "The installed driver is older than the CUDA runtime"};
const Expected no_library = {35, "CUDA driver version is insufficient for CUDA runtime version",
                             "No driver library (libcuda.so.1) was found"};
const Expected stub = {34, "CUDA driver is a stub library", "stub was loaded"};

std::string missing_absence_of_device() {
  return std::filesystem::exists("/proc/driver/nvidia/version") ? "an NVIDIA kernel driver is loaded on this machine"
                                                                : "";
}

std::string missing_absence_of_driver() {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return {};
  dlclose(driver);
  return "a driver library is installed on this machine";
}

bool names_driver(const Journal& journal) {
  for (const auto& module : journal.of_type("module"))
    if (module.value("role", Line()) == "driver") return true;
  return false;
}

void check_start(Stage& stage, const GenuineRuntime& runtime, const Expected& expected) {
  INFO("cudart " << runtime.version);
  const std::vector<std::string> argv = {program("start_runtime"), runtime.file};
  const auto bare = stage.run_bare(argv);
  CHECK(bare.out == std::to_string(expected.code) + " " + expected.text + "\n");
  const auto traced = stage.run_traced(argv);
  CHECK(traced == bare);
  const auto journal = stage.journal();
  const auto failures = journal.failures();
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].at("tried") == "init");
  CHECK(failures[0].at("api") == "cudaFree");
  CHECK(failures[0].at("code") == expected.code);
  CHECK(failures[0].at("start") == true);
  const bool reached_driver = expected.code == no_device.code;
  CHECK(failures[0].value("in", "nothing") == (reached_driver ? "cuInit" : "nothing"));
  CHECK(journal.of_type("end").at(0).at("calls").contains("cuInit") == reached_driver);
  // The stub is named where the runtime asked it for functions.
  if (expected.code != stub.code) CHECK(names_driver(journal) == (&expected != &no_library));
  const auto report = failures_in_one_line(stage);
  INFO(report);
  CHECK(report.find(expected.verdict) != std::string::npos);
}

void check_starts(const std::string& library_path, const std::vector<GenuineRuntime>& runtimes,
                  const Expected& expected) {
  for (const auto& runtime : runtimes) {
    Stage stage(Cuda::none);
    if (!library_path.empty()) stage.set("LD_LIBRARY_PATH", library_path);
    check_start(stage, runtime, expected);
  }
}

const std::vector<std::string> all_versions = {"11.2", "11.8", "12", "13.0", "13.5"};

void starts_over(const std::string& driver, const std::vector<std::string>& versions, const Expected& expected) {
  NEEDS_PART(missing_driver(driver));
  const auto runtimes = genuine_runtimes(versions);
  NEEDS_PART(missing(runtimes));
  if (const auto reason = missing_absence_of_device(); !reason.empty()) return skipped(reason);
  check_starts(genuine_driver(driver), runtimes, expected);
}

void nvml_is_left_alone(const std::string& driver) {
  NEEDS_PART(missing_driver(driver));
  if (const auto reason = missing_absence_of_device(); !reason.empty()) return skipped(reason);
  Stage stage(Cuda::none);
  stage.set("LD_LIBRARY_PATH", genuine_driver(driver));
  const auto bare = stage.run_bare({program("nvml_init")});
  CHECK(bare.out == "9 Driver Not Loaded\n");
  CHECK(stage.run_traced({program("nvml_init")}) == bare);
  CHECK_FALSE(std::filesystem::exists(stage.journals()));
}

}  // namespace

TEST_CASE("genuine driver: 550 without a device, under runtimes of its age") {
  starts_over("550", {"11.2", "11.8", "12"}, no_device);
}

TEST_CASE("genuine driver: 535 without a device, under runtimes of its age") {
  starts_over("535", {"11.2", "11.8", "12"}, no_device);
}

TEST_CASE("genuine driver: 550 is refused by newer runtimes, which never call cuInit") {
  starts_over("550", {"13.0", "13.5"}, too_old);
}

TEST_CASE("genuine driver: 535 is refused by newer runtimes, which never call cuInit") {
  starts_over("535", {"13.0", "13.5"}, too_old);
}

TEST_CASE("genuine driver: a static runtime that refuses the driver is seen by its question for the version") {
  NEEDS(nvcc);
  for (const char* driver : {"550", "535"}) {
    NEEDS_PART(missing_driver(driver));
    if (const auto reason = missing_absence_of_device(); !reason.empty()) return skipped(reason);
    INFO(driver);
    Stage stage(Cuda::none);
    stage.set("LD_LIBRARY_PATH", genuine_driver(driver));
    const auto bare = stage.run_bare({program("start_static")});
    CHECK(bare.out.find("35") != std::string::npos);
    CHECK(stage.run_traced({program("start_static")}) == bare);
    const auto failures = stage.journal().failures();
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].at("code") == 35);
    CHECK(failures[0].at("name") == "cudaErrorInsufficientDriver");
    CHECK(failures[0].at("inferred") == true);
    CHECK(failures[0].at("start") == true);
    const auto report = failures_in_one_line(stage);
    INFO(report);
    CHECK(report.find(too_old.verdict) != std::string::npos);
    CHECK(report.find("start_training") != std::string::npos);
  }
}

TEST_CASE("genuine driver: there is no driver library at all") {
  const auto runtimes = genuine_runtimes(all_versions);
  NEEDS_PART(missing(runtimes));
  if (const auto reason = missing_absence_of_driver(); !reason.empty()) return skipped(reason);
  check_starts("", runtimes, no_library);
}

TEST_CASE("genuine driver: the toolkit's stub stands where the driver should") {
  const auto runtimes = genuine_runtimes(all_versions);
  NEEDS_PART(missing(runtimes));
  const auto library = toolkit_folder() / "lib64/stubs/libcuda.so";
  if (!std::filesystem::exists(library)) return skipped("this toolkit has no stub library");
  const Stage stage(Cuda::none);
  const auto folder = stage.folder() / "stubs";
  std::filesystem::create_directory(folder);
  std::filesystem::create_symlink(library, folder / "libcuda.so.1");
  check_starts(folder, runtimes, stub);
}

TEST_CASE("genuine driver: nvmlInit of 535 answers as it does without the shim") { nvml_is_left_alone("535"); }
TEST_CASE("genuine driver: nvmlInit of 550 answers as it does without the shim") { nvml_is_left_alone("550"); }
