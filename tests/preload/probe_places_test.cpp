// `gpumem probe` in places that a container or a job makes: other processes, hidden folders, namespaces.
#include "probe_answers.hpp"

using namespace gpumem::test;

namespace {

// What the probe answers there, once the script has prepared the place.
Line answer_in(const Stage& stage, const std::string& script, const std::string& more = "--mount-proc") {
  return answer_of(stage.run({in_namespaces(script + "\n" + collector().string() + " probe --deadline 20000", more),
                              stage.bare_environment()}));
}

// A process that sleeps with a device file open.
constexpr const char* with_holder =
    "mount -t tmpfs none /dev; : >/dev/nvidia0; : >/dev/null; sleep 600 </dev/nvidia0 &\n"
    "until grep -q sleep /proc/$!/comm; do :; done";

}  // namespace

TEST_CASE("probe: in a container the holders' numbers mean nobody, and missing device files are named") {
  NEEDS(scripted_driver);
  if (const auto reason = missing_namespaces(); !reason.empty()) return skipped(reason);
  Stage stage;
  stage.script(
      {{"devices",
        {{{"other_processes", {{{"pid", 4000000}, {"name", "x"}, {"used_bytes", 5}, {"kind", "compute"}}}}}}}});
  const auto answer = answer_in(stage, "mount -t tmpfs none /dev");
  CHECK(answer["nvml"]["processes"][0]["reason"] == "ENOENT");
  CHECK(answer["system"]["pid_namespace"]["initial"] == false);
  CHECK(answer["system"]["proc"] == "ok");
  for (const auto& node : answer["device_nodes"]["nodes"]) CHECK(node["open"] == "ENOENT");
  CHECK(answer["device_nodes"]["nodes"].size() == 3);
}

TEST_CASE("probe: a process that NVML does not list is found by the device file that it has open") {
  if (const auto reason = missing_namespaces(); !reason.empty()) return skipped(reason);
  const Stage stage(Cuda::none);
  const auto system = answer_in(stage, with_holder)["system"];
  REQUIRE(system["holders"].size() == 1);
  const auto& holder = system["holders"][0];
  CHECK(holder["name"] == "sleep");
  CHECK(holder["command"] == Line{"sleep", "600"});
  CHECK(holder["ppid"] == 1);
  CHECK(holder["files"] == Line{"/dev/nvidia0"});
  CHECK(system["holders_unreadable"] == 0);
}

TEST_CASE("probe: memory that is used by nobody whom NVML lists is held by the forked child of a killed process") {
  NEEDS(scripted_driver);
  if (const auto reason = missing_namespaces(); !reason.empty()) return skipped(reason);
  Stage stage;
  stage.script({{"shared_account", "/dev/nvidia0"}});
  const auto answer = answer_in(
      stage, "mount -t tmpfs none /dev; : >/dev/null; (" + program("forked") + " outlives || :) >/dev/null 2>&1");
  const auto& device = answer["nvml"]["devices"][0];
  CHECK(device["memory"]["used_bytes"] == (400 << 20) + 8704);
  CHECK(device["processes"]["compute"].empty());
  REQUIRE(answer["system"]["holders"].size() == 1);
  const auto& holder = answer["system"]["holders"][0];
  CHECK(holder["name"] == "forked");
  CHECK(holder["ppid"] == 1);
  CHECK(holder["files"] == Line{"/dev/nvidia0"});
}

TEST_CASE("probe: GPUMEM_REDACT=1 leaves out the command lines of other processes") {
  if (const auto reason = missing_namespaces(); !reason.empty()) return skipped(reason);
  Stage stage(Cuda::none);
  stage.set("GPUMEM_REDACT", "1");
  const auto answer = answer_in(stage, with_holder);
  const auto& holder = answer["system"]["holders"][0];
  CHECK(holder["name"] == "sleep");
  CHECK(holder["command"].is_null());
  CHECK(holder["reason"] == "GPUMEM_REDACT");
  CHECK(answer.dump().find("600\"") == std::string::npos);
}

TEST_CASE("probe: a /proc that is missing, or of another namespace, is told as such") {
  if (const auto reason = missing_namespaces(); !reason.empty()) return skipped(reason);
  const Stage stage(Cuda::none);
  const auto hidden = answer_in(stage, "mount -t tmpfs none /proc")["system"];
  CHECK(hidden["proc"] == "missing");
  CHECK(hidden["holders"].empty());
  CHECK(hidden["fabric_manager"]["needed"].is_null());
  CHECK(hidden["host_memory"]["reason"] == "ENOENT");
  CHECK(answer_in(stage, ":", "--mount")["system"]["proc"] == "of another namespace");
}

TEST_CASE("probe: the kernel's log is told, or why it may not be read") {
  const auto system = probe(Stage(Cuda::none))["system"];
  const auto& log = system["kernel_log"];
  INFO(log.dump());
  CHECK(log["lines"].is_array() != log["reason"].is_string());
  if (log["lines"].is_null()) CHECK(system["times"]["since_resume_s"].is_null());
}

TEST_CASE("probe: the kernel's log may not be read from a container where it is not for everybody") {
  if (const auto reason = missing_namespaces(); !reason.empty()) return skipped(reason);
  if (read_text("/proc/sys/kernel/dmesg_restrict") != "1\n") return skipped("everybody may read the kernel's log here");
  const auto log = answer_in(Stage(Cuda::none), ":")["system"]["kernel_log"];
  CHECK(log == Line{{"lines", nullptr}, {"reason", "EPERM"}});
}

TEST_CASE("probe: the library that the search path leads to is told first, with the file behind it") {
  NEEDS(scripted_driver);
  Stage stage;
  stage.set("LD_LIBRARY_PATH", simulated_folder());
  const auto libraries = probe(stage)["system"]["libraries"];
  REQUIRE(!libraries.empty());
  CHECK(libraries[0]["path"] == (simulated_folder() / "libcuda.so.1").string());
  CHECK(libraries[0]["target"] == std::filesystem::canonical(simulated_folder() / "libcuda.so.1").string());
}

TEST_CASE("probe: the host's memory is told as it is") {
  const auto memory = probe(Stage(Cuda::none))["system"]["host_memory"];
  CHECK(memory["total_bytes"] > 0);
  CHECK(memory["available_bytes"] <= memory["total_bytes"]);
  CHECK(memory["reason"].is_null());
}
