// CUDA does not start, and other processes have no part in it: limits, software that does not fit, services.
#include <sys/resource.h>

#include "situations.hpp"

using namespace gpumem::test;

namespace {

std::vector<std::string> limited(const std::string& limit, std::vector<std::string> words) {
  auto argv = situation(std::move(words));
  argv.insert(argv.begin(), {"sh", "-c", "ulimit " + limit + "; exec \"$@\"", "sh"});
  return argv;
}

Line needing_addresses(std::uint64_t free_gib = 16) {
  return {{"devices",
           {{{"address_space_needed", 64ull << 30},
             {"other_processes",
              {{{"pid", 4000000}, {"name", "x"}, {"used_bytes", (16 - free_gib) << 30}, {"kind", "compute"}}}}}}}};
}

}  // namespace

TEST_CASE("situations: out of memory at the start, and the device is empty") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  for (const char* call : {"cuInit", "cuDevicePrimaryCtxRetain"}) {
    Stage stage;
    stage.script({{"rules", {rule(call, 2)}}});
    const auto failure = first_failure(stage, situation({"start", "retain"}));
    check_open(failure, {"driver_mismatch"});
    CHECK(is_ruled_out(failure, "memory_held"));
    CHECK((is_ruled_out(failure, "host_memory") || is_candidate(failure, "host_memory")));
    CHECK(failure.dump().find("16.0 GiB free of 16.0 GiB") != std::string::npos);
  }
}

TEST_CASE("situations: out of memory at the start, and no NVML that could tell what is free") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(failing_start(2));
  move_driver_to(stage, "driver");
  const auto failure = first_failure(stage, situation({"start"}));
  check_open(failure, {"memory_held"});
  CHECK_THAT(words_of(failure), ContainsSubstring("NVML told nothing (absent"));
  CHECK_THAT(words_of(failure), ContainsSubstring("not known whether"));
}

TEST_CASE("situations: out of memory at the start, and an NVML that does not answer in time") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  auto script = failing_start(2);
  script["rules"].push_back({{"call", "nvmlInit_v2"}, {"delay_ms", 60000}});
  stage.script(script).set("GPUMEM_PROBE_TIMEOUT_MS", "300");
  const auto failure = first_failure(stage, situation({"start"}));
  check_open(failure, {"memory_held"});
  CHECK_THAT(words_of(failure), ContainsSubstring("timed out"));
}

TEST_CASE("situations: a full device, and an NVML that hangs when it is asked who uses it") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  Line script = needing_addresses(0);
  script["rules"] = {rule("cuDevicePrimaryCtxRetain", 2)};
  for (const char* call : {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v3"})
    script["rules"].push_back({{"call", call}, {"delay_ms", 60000}});
  stage.script(script).set("GPUMEM_PROBE_TIMEOUT_MS", "500");
  check_cause(first_failure(stage, situation({"start", "retain"})), "memory_held", "proven",
              {"0 bytes free of 16.0 GiB", "NVML did not tell which processes use the device"});
}

TEST_CASE("situations: ulimit -v leaves the driver no room, and the device is empty") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(needing_addresses());
  const auto failure = first_failure(stage, limited("-v 16777216", {"start", "retain"}));
  CHECK(failure.at("code") == 2);
  check_cause(failure, "address_space_limit", "likely", {"RLIMIT_AS is 16.0 GiB", "16.0 GiB free of 16.0 GiB"});
  CHECK(is_ruled_out(failure, "memory_held"));
}

TEST_CASE("situations: the same without a limit starts, and with a limit and a full device it is the device") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage unlimited, full;
  const auto outcome = unlimited.script(needing_addresses()).run_traced(situation({"start", "retain"}));
  CHECK(outcome.out == "cuInit: 0\ncuDevicePrimaryCtxRetain: 0\ncuCtxSetCurrent: 0\n");
  full.script(needing_addresses(0));
  check_cause(first_failure(full, limited("-v 16777216", {"start", "retain"})), "memory_held", "proven",
              {"0 bytes free of 16.0 GiB", "process 4000000"});
}

TEST_CASE("situations: AddressSanitizer in the program, and the device is empty") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  for (const std::string gap : {"", ":protect_shadow_gap=0"}) {
    INFO(gap);
    Stage stage;
    stage.script({{"rules", {rule("cuDevicePrimaryCtxRetain", 2)}}})
        .set("ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0" + gap);
    auto argv = situation({"start", "retain"});
    argv[0] = program("situation_asan");
    const auto failure = first_failure(stage, argv);
    if (gap.empty()) {
      check_cause(failure, "sanitizer", "likely", {"libasan.so", "ASAN_OPTIONS=protect_shadow_gap=0"});
    } else {
      check_open(failure, {"driver_mismatch"});
      CHECK(is_ruled_out(failure, "sanitizer"));
    }
  }
}

TEST_CASE("situations: a sanitizer that is linked into the program") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  auto argv = situation({"start", "retain"});
  argv[0] = program("situation_static_asan");
  if (!std::filesystem::exists(argv[0])) return skipped("the compiler has no static AddressSanitizer");
  Stage stage;
  stage.script({{"rules", {rule("cuDevicePrimaryCtxRetain", 2)}}}).set("ASAN_OPTIONS", "detect_leaks=0");
  const auto failure = first_failure(stage, argv);
  check_open(failure, {"sanitizer"});
  CHECK_THAT(failure.at("diagnosis").at("candidates").dump(), ContainsSubstring("that a sanitizer is linked into"));
}

TEST_CASE("situations: no descriptors are left for the driver's files") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  for (const int code : {2, 3, 100, 304, 999}) {
    INFO(code);
    Stage stage;
    stage.script(failing_start(code));
    const auto failure = first_failure(stage, situation({"descriptors=9", "start"}));
    check_cause(failure, "descriptors", "likely", {"55 of 64 descriptors"});
  }
}

TEST_CASE("situations: an NVSwitch machine's service comes up while the program tries again") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"rules", {{{"call", "cuInit"}, {"code", 802}, {"nth", 1}, {"times", 2}}}}});
  const auto failure = first_failure(stage, situation({"start", "start", "start", "retain"}));
  CHECK(failure.at("count") == 2);
  CHECK_THAT(failure.dump(), ContainsSubstring("fabric_manager"));
  CHECK_THAT(failure.dump(), ContainsSubstring("the same process started CUDA"));
}

TEST_CASE("situations: the MPS daemon's folder is there without its socket, or is not there") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  for (const char* folder : {"empty", "nowhere"}) {
    Stage stage;
    std::filesystem::create_directory(stage.folder() / "empty");
    stage.script(failing_start(805)).set("CUDA_MPS_PIPE_DIRECTORY", stage.folder() / folder);
    check_cause(first_failure(stage, situation({"start"})), "mps_unreachable", "proven",
                {(stage.folder() / folder).string()});
  }
}

TEST_CASE("situations: the making of a context hangs until the job is ended") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"rules", {{{"call", "cuDevicePrimaryCtxRetain"}, {"delay_ms", 60000}}}}});
  const auto outcome = stage.run_traced({"timeout", "2", program("situation"), "start", "retain"});
  CHECK(outcome.status == 124);
  const auto processes = processes_of(stage);
  REQUIRE(processes.size() == 1);
  const auto& in_flight = processes[0].at("in_flight");
  REQUIRE(in_flight.size() == 1);
  CHECK(in_flight[0].at("api") == "cuDevicePrimaryCtxRetain");
}

TEST_CASE("situations: a code that nobody knows is shown as it is") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto failure = first_failure(stage.script(failing_start(4711)), situation({"start"}));
  CHECK(failure.at("code") == 4711);
  check_open(failure, {});
  CHECK_THAT(words_of(failure), ContainsSubstring("4711"));
}
