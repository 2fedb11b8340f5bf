// `gpumem probe`: what is told of the machine from outside a program, whatever NVML does.
#include <algorithm>

#include "genuine.hpp"
#include "probe_answers.hpp"

using namespace gpumem::test;

namespace {

Line nvml_with(const Line& script, const std::string& deadline = "20000") {
  Stage stage;
  stage.script(script);
  return probe(stage, deadline)["nvml"];
}

Line rule(const std::string& call, const Line& what) {
  Line rule = {{"call", call}};
  rule.update(what);
  return rule;
}

}  // namespace

TEST_CASE("probe: devices are told with memory, modes and the processes that use them") {
  NEEDS(scripted_driver);
  const auto nvml = nvml_with(Line::parse(R"({"driver_version": 12040, "nvml_driver_version": "550.1",
    "devices": [{"name": "First", "capacity": 10000, "compute_mode": "exclusive_process", "persistence": false,
                 "pci_bus_id": "0000:41:00.0", "mig": "unsupported", "other_processes": [
                   {"pid": 4000001, "name": "a", "used_bytes": 2000, "kind": "compute"},
                   {"pid": 4000002, "name": "b", "used_bytes": 300, "kind": "graphics"},
                   {"pid": 4000003, "name": "c", "used_bytes": 40, "kind": "mps"}]},
                {"mig": "enabled", "pci_bus_id": "0000:42:00.0"}]})"));
  CHECK(nvml["status"] == "ok");
  CHECK(nvml["path"] == (simulated_folder() / "libnvidia-ml.so.1").string());
  CHECK(nvml["driver_version"] == "550.1");
  CHECK(nvml["cuda_driver_version"] == 12040);
  REQUIRE(nvml["devices"].size() == 2);
  const auto& first = nvml["devices"][0];
  CHECK(first["index"] == 0);
  CHECK(first["uuid"] == "GPU-513cda00-0000-0000-0000-000000000000");
  CHECK(first["pci_bus_id"] == "00000000:41:00.0");
  CHECK(first["name"] == "First");
  CHECK(first["compute_mode"] == "exclusive_process");
  CHECK(first["persistence"] == false);
  CHECK(first["memory"] == Line{{"total_bytes", 10000}, {"free_bytes", 7660}, {"used_bytes", 2340}});
  CHECK(first["memory_v2"]["free_bytes"] == 7660);
  CHECK(first["memory_v2"]["reserved_bytes"] == 0);
  const Line no_instance = {{"gpu_instance", nullptr}, {"compute_instance", nullptr}};
  const auto process = [&](int pid, int bytes) {
    Line told = {{"pid", pid}, {"used_bytes", bytes}};
    told.update(no_instance);
    return Line::array({told});
  };
  CHECK(first["processes"]["compute"] == process(4000001, 2000));
  CHECK(first["processes"]["graphics"] == process(4000002, 300));
  CHECK(first["processes"]["mps"] == process(4000003, 40));
  CHECK(first["mig"].is_null());
  CHECK(first["unanswered"] ==
        Line::array({{{"call", "nvmlDeviceGetMigMode"}, {"code", 3}, {"text", "Not Supported"}}}));
  const auto& second = nvml["devices"][1];
  CHECK(second["compute_mode"] == "default");
  CHECK(second["persistence"] == true);
  CHECK(second["mig"] == Line{{"current", true}, {"pending", true}, {"instances", Line::array()}});
  CHECK(nvml["processes"].size() == 3);
  for (const auto& told : nvml["processes"]) CHECK(told["reason"] == "ENOENT");
}

TEST_CASE("probe: a process on two devices is described once, by what /proc says of it") {
  NEEDS(scripted_driver);
  const Line holder = {{"pid", getpid()}, {"name", "x"}, {"used_bytes", 5}, {"kind", "compute"}};
  const Line device = {{"other_processes", Line::array({holder})}};
  const auto nvml = nvml_with({{"devices", Line::array({device, device})}});
  REQUIRE(nvml["processes"].size() == 1);
  const auto& told = nvml["processes"][0];
  CHECK(told["pid"] == getpid());
  CHECK(told["name"] == "preload_tests");
  CHECK(told["command"][0].get<std::string>().find("preload_tests") != std::string::npos);
  CHECK(told["reason"].is_null());
}

TEST_CASE("probe: where NVML hangs, the call is named, and all that was told before it is kept") {
  NEEDS(scripted_driver);
  const auto at_start = nvml_with({{"rules", {rule("nvmlInit_v2", {{"delay_ms", 60000}})}}}, "400");
  CHECK(at_start["status"] == "timed out");
  CHECK(at_start["in"] == "nvmlInit_v2");
  const auto later = nvml_with({{"devices", {Line::object(), Line::object()}},
                                {"rules", {rule("nvmlDeviceGetMemoryInfo", {{"delay_ms", 60000}, {"nth", 2}})}}},
                               "400");
  CHECK(later["status"] == "timed out");
  CHECK(later["in"] == "nvmlDeviceGetMemoryInfo");
  REQUIRE(later["devices"].size() == 2);
  CHECK(later["devices"][0]["processes"]["compute"].empty());
  CHECK(later["devices"][1]["name"] == "SimCUDA GPU 1");
}

TEST_CASE("probe: an NVML that refuses is told with code and text") {
  NEEDS(scripted_driver);
  const auto nvml = nvml_with({{"rules", {rule("nvmlInit_v2", {{"code", 9}})}}});
  CHECK(nvml == Line{{"status", "refused"},
                     {"path", (simulated_folder() / "libnvidia-ml.so.1").string()},
                     {"code", 9},
                     {"text", "Driver Not Loaded"}});
}

TEST_CASE("probe: one question that is refused costs one answer") {
  NEEDS(scripted_driver);
  const auto nvml = nvml_with({{"rules", {rule("nvmlDeviceGetMemoryInfo_v2", {{"code", 15}})}}});
  CHECK(nvml["status"] == "ok");
  CHECK(nvml["devices"][0]["memory_v2"].is_null());
  CHECK(nvml["devices"][0]["memory"]["total_bytes"] == 1ull << 34);
  CHECK(nvml["devices"][0]["unanswered"][0]["text"] == "GPU is lost");
}

TEST_CASE("probe: a device whose handle is refused hides no other") {
  NEEDS(scripted_driver);
  const auto nvml = nvml_with({{"devices", {Line::object(), Line::object()}},
                               {"rules", {rule("nvmlDeviceGetHandleByIndex_v2", {{"nth", 1}, {"code", 15}})}}});
  REQUIRE(nvml["devices"].size() == 2);
  CHECK(nvml["devices"][0]["uuid"].is_null());
  CHECK(nvml["devices"][0]["unanswered"][0]["code"] == 15);
  CHECK(nvml["devices"][1]["uuid"].is_string());
}

TEST_CASE("probe: without NVML the rest is told") {
  const auto nvml = probe(Stage(Cuda::none))["nvml"];
  if (nvml["status"] != "absent") return skipped("this machine has an NVML of its own");
  CHECK(nvml["path"].is_null());
  CHECK(nvml["reason"].get<std::string>().find("libnvidia-ml.so.1") != std::string::npos);
}

TEST_CASE("probe: an old driver's lists have the old structure, and may grow while they are read") {
  Stage stage;
  stage.set("LD_LIBRARY_PATH", program("old_nvml"));
  const auto nvml = probe(stage)["nvml"];
  CHECK(nvml["cuda_driver_version"].is_null());
  CHECK(nvml["unanswered"][0] ==
        Line{{"call", "nvmlSystemGetCudaDriverVersion_v2"}, {"code", 13}, {"text", "no text"}});
  const auto& device = nvml["devices"][0];
  CHECK(device["memory"]["used_bytes"] == 40);
  CHECK(device["memory_v2"].is_null());
  const auto& processes = device["processes"]["compute"];
  REQUIRE(processes.size() == 100);
  CHECK(processes[0] == Line{{"pid", 4000000}, {"used_bytes", nullptr}});
  CHECK(processes[99] == Line{{"pid", 4000099}, {"used_bytes", 99000}});
  CHECK(device["processes"]["mps"].is_null());
}

TEST_CASE("probe: instances of a split device are found wherever their numbers lie") {
  Stage stage;
  stage.set("LD_LIBRARY_PATH", program("old_nvml"));
  const auto mig = probe(stage)["nvml"]["devices"][0]["mig"];
  CHECK(mig["current"] == true);
  CHECK(mig["pending"] == false);
  REQUIRE(mig["instances"].size() == 1);
  CHECK(mig["instances"][0]["uuid"] == "MIG-3");
  CHECK(mig["instances"][0]["gpu_instance"] == 9);
  CHECK(mig["instances"][0]["compute_instance"].is_null());
  CHECK(mig["instances"][0]["memory"]["used_bytes"] == 5);
}

TEST_CASE("probe: NVIDIA's own NVML without its driver refuses, and hangs nothing") {
  for (const std::string version : {"535", "550"}) {
    NEEDS_PART(missing_driver(version));
    Stage stage;
    stage.set("LD_LIBRARY_PATH", genuine_driver(version));
    const auto nvml = probe(stage)["nvml"];
    if (nvml["status"] == "ok") return skipped("this machine has a driver");
    CHECK(nvml["status"] == "refused");
    CHECK(nvml["code"] == 9);
    CHECK(nvml["text"] == "Driver Not Loaded");
  }
}

TEST_CASE("probe: settings and the place of the MPS daemon are those of its own environment") {
  Stage stage(Cuda::none);
  stage.set("CUDA_VISIBLE_DEVICES", "1").set("SECRET", "s").set("CUDA_MPS_PIPE_DIRECTORY", stage.folder());
  write_text(stage.folder() / "control", "");
  const auto system = probe(stage)["system"];
  CHECK(system["environment"]["CUDA_VISIBLE_DEVICES"] == "1");
  CHECK_FALSE(system["environment"].contains("SECRET"));
  CHECK(system["mps"]["pipe_directory"] == stage.folder().string());
  CHECK(system["mps"]["control_exists"] == true);
  CHECK(system["times"]["since_boot_s"] > 0);
}

TEST_CASE("probe: the text says the same in lines, and bad options are refused") {
  NEEDS(scripted_driver);
  Stage stage;
  stage.script({{"rules", {rule("nvmlInit_v2", {{"code", 9}})}}});
  const auto text = stage.gpumem({"probe", "--format", "text"});
  CHECK(text.status == 0);
  CHECK(text.out.find("nvml\n  status: refused\n") != std::string::npos);
  CHECK(text.out.find("\n  text: Driver Not Loaded\n") != std::string::npos);
  CHECK(stage.gpumem({"probe", "--deadline", "0"}).status == 2);
  CHECK(stage.gpumem({"probe", "--format", "xml"}).status == 2);
  CHECK(stage.gpumem({"help", "probe"}).out.find("--deadline") != std::string::npos);
}
