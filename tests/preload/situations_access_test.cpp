// What the process can see of the machine: device files, devices, the kernel driver, a container's limits.
#include "probe_answers.hpp"
#include "situations.hpp"

using namespace gpumem::test;

namespace {

// Runs the program where the script has prepared /dev and /proc, with the journals in the same folder as ever.
Line first_failure_where(const Stage& stage, const std::string& prepared, std::vector<std::string> words = {"start"},
                         const std::string& through = "") {
  std::string command = prepared + "\nexec " + through + " env LD_PRELOAD=" + shim().string() + " GPUMEM_QUIET=1 " +
                        "GPUMEM_DIR=" + stage.journals().string() + " " + program("situation");
  for (const auto& word : words) command += " " + word;
  const auto outcome = stage.run({in_namespaces(command), stage.bare_environment()});
  INFO(outcome);
  const auto processes = processes_of(stage);
  REQUIRE(processes.size() == 1);
  return first_failure_in(processes[0]);
}

// A /dev of its own with these files, which can be opened, and the kernel driver's files.
std::string dev(const std::string& files) {
  return "touch null; mount --bind /dev/null null; mount -t tmpfs none /dev; touch /dev/null; mount --bind null "
         "/dev/null; cd /dev; touch " +
         files + "; cd - >/dev/null";
}

constexpr const char* all_nodes = "nvidiactl nvidia0 nvidia-uvm";

std::string kernel_driver(const std::string& version) {
  return "\nmount -t tmpfs none /proc/driver; mkdir /proc/driver/nvidia; echo 'NVRM version: NVIDIA UNIX x86_64 "
         "Kernel Module  " +
         version + "  Wed Jan  1 00:00:00 UTC 2025' > /proc/driver/nvidia/version";
}

#define NEEDS_NAMESPACES() \
  NEEDS(scripted_driver);  \
  NEEDS(nvcc);             \
  if (const auto reason = missing_namespaces(); !reason.empty()) return skipped(reason)

}  // namespace

TEST_CASE("situations: the file of UVM alone is missing") {
  NEEDS_NAMESPACES();
  for (const int code : {2, 3, 46, 100, 304, 999}) {
    INFO(code);
    Stage stage;
    stage.script(failing_start(code));
    check_cause(first_failure_where(stage, dev("nvidiactl nvidia0") + kernel_driver("580.65.06")), "uvm_node", "proven",
                {"/dev/nvidia-uvm does not exist", "/dev/nvidiactl can be opened", "NVML works", "nvidia-modprobe"});
  }
}

TEST_CASE("situations: the file of UVM may not be opened by this user, or has no driver behind it") {
  NEEDS_NAMESPACES();
  const std::string no_override = "setpriv --bounding-set=-dac_override,-dac_read_search";
  Stage refused, behind;
  refused.script(failing_start(999));
  check_cause(first_failure_where(refused, dev(all_nodes) + "; chmod 0 /dev/nvidia-uvm" + kernel_driver("580.65.06"),
                                  {"start"}, no_override),
              "uvm_node", "proven", {"EACCES", "0666"});
  behind.script(failing_start(999));
  const std::string socket = "; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"/dev/nvidia-uvm\")'";
  check_cause(first_failure_where(behind, dev("nvidiactl nvidia0") + socket + kernel_driver("580.65.06")), "uvm_node",
              "proven", {"ENXIO", "Reload"});
}

TEST_CASE("situations: a container without any of the device files") {
  NEEDS_NAMESPACES();
  Stage stage;
  stage.script({{"devices", Line::array()}});
  check_cause(first_failure_where(stage, dev("zero") + kernel_driver("580.65.06")), "device_nodes", "proven",
              {"/dev/nvidiactl does not exist", "a container"});
}

TEST_CASE("situations: an unknown error, and all files can be opened") {
  NEEDS_NAMESPACES();
  Stage stage;
  stage.script(failing_start(999));
  const auto failure = first_failure_where(stage, dev(all_nodes) + kernel_driver("580.65.06"));
  CHECK(is_ruled_out(failure, "uvm_node"));
  CHECK(is_ruled_out(failure, "device_nodes"));
  CHECK(is_ruled_out(failure, "no_kernel_driver"));
}

TEST_CASE("situations: a process that had memory gets an unknown error, as after a suspend") {
  NEEDS_NAMESPACES();
  Stage stage;
  stage.script({{"rules", {rule("cuMemAlloc_v2", 999, 2)}}});
  const auto failure = first_failure_where(stage, dev(all_nodes) + kernel_driver("580.65.06"),
                                           {"start", "retain", "alloc=100", "alloc=200"});
  INFO(failure.dump(2));
  CHECK(failure.at("code") == 999);
  CHECK(failure.at("tried") == "alloc");
  CHECK((is_candidate(failure, "lost_over_suspend") || is_ruled_out(failure, "lost_over_suspend")));
  CHECK(is_ruled_out(failure, "uvm_node"));
}

TEST_CASE("situations: the driver's library and the kernel driver are of different versions") {
  NEEDS_NAMESPACES();
  for (const char* running : {"550.163.01", "580.65.06"}) {
    Stage stage;
    const auto folder = stage.folder() / "driver";
    std::filesystem::create_directory(folder);
    std::filesystem::copy_file(simulated_folder() / "libcuda.so.1", folder / "libcuda.so.580.65.06");
    std::filesystem::create_symlink("libcuda.so.580.65.06", folder / "libcuda.so.1");
    stage.script(failing_start(803)).set("LD_LIBRARY_PATH", folder.string() + ":" + simulated_folder().string());
    const auto failure = first_failure_where(stage, dev(all_nodes) + kernel_driver(running));
    INFO(running << failure.dump(2));
    if (running == std::string("550.163.01"))
      check_cause(failure, "driver_mismatch", "likely", {"libcuda is 580.65.06", "the kernel driver is 550.163.01"});
    else
      CHECK(is_ruled_out(failure, "driver_mismatch"));
  }
}

TEST_CASE("situations: NVSwitches, and their service does not run") {
  NEEDS_NAMESPACES();
  Stage stage;
  stage.script(failing_start(802));
  check_cause(
      first_failure_where(stage, dev(all_nodes) + kernel_driver("580.65.06") + "; mkdir /proc/driver/nvidia-nvswitch"),
      "fabric_manager", "proven", {"NVSwitches", "no nv-fabricmanager", "580.65.06"});
}

TEST_CASE("situations: a container's numbers of processes name nobody, and the device is full") {
  NEEDS_NAMESPACES();
  Stage stage;
  stage.script(
      {{"devices",
        {{{"other_processes", {{{"pid", 1}, {"name", "x"}, {"used_bytes", 16ull << 30}, {"kind", "compute"}}}}}}}});
  const auto failure = first_failure_where(stage, dev(all_nodes) + kernel_driver("580.65.06"), {"start", "retain"});
  check_cause(failure, "memory_held", "proven", {"0 bytes free of 16.0 GiB", "process 1 (a number of the host"});
  CHECK(words_of(failure).find("situation") == std::string::npos);
}

TEST_CASE("situations: the environment hides the devices, or names none of them") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  for (const auto& [list, id] : {std::pair<const char*, const char*>{"", "devices_hidden"},
                                 {"-1", "devices_hidden"},
                                 {"7", "visible_list_invalid"},
                                 {"GPU-ffffffff", "visible_list_invalid"}}) {
    INFO(list);
    Stage stage;
    stage.set("CUDA_VISIBLE_DEVICES", list);
    const auto failure = first_failure(stage, situation({"start"}));
    CHECK(failure.at("code") == 100);
    check_cause(failure, id, "proven", {std::string("CUDA_VISIBLE_DEVICES is \"") + list + "\""});
  }
}

TEST_CASE("situations: a number beyond the list of visible devices") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"devices", {Line::object(), Line::object()}}}).set("CUDA_VISIBLE_DEVICES", "1");
  const auto failure = first_failure(stage, situation({"start", "device=1", "retain"}));
  CHECK(failure.at("code") == 101);
  check_cause(failure, "ordinal_beyond_list", "likely",
              {"CUDA_VISIBLE_DEVICES is \"1\"", "2 devices", "device 1 was asked for"});
}

TEST_CASE("situations: a machine whose driver finds no device, with all files there") {
  NEEDS_NAMESPACES();
  Stage stage;
  stage.script({{"devices", Line::array()}});
  check_cause(first_failure_where(stage, dev(all_nodes) + kernel_driver("580.65.06")), "no_working_device", "likely",
              {"NVML sees no device either"});
}

TEST_CASE("situations: an exclusive device in a container, whose holder is outside") {
  NEEDS_NAMESPACES();
  Stage stage;
  stage.script(
      {{"devices",
        {{{"compute_mode", "exclusive_process"},
          {"other_processes", {{{"pid", 1}, {"name", "x"}, {"used_bytes", 400 << 20}, {"kind", "compute"}}}}}}},
       {"rules", {rule("cuDevicePrimaryCtxRetain", 46)}}});
  const auto failure = first_failure_where(stage, dev(all_nodes) + kernel_driver("580.65.06"), {"start", "retain"});
  check_cause(failure, "exclusive_other_process", "proven", {"process 1 (a number of the host"});
}
