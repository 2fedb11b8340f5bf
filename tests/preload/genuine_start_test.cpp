// Every genuine runtime over a driver that refuses to start: the program hears what it always hears, and the journal
// holds exactly that one failure.
#include "genuine.hpp"

using namespace gpumem::test;

namespace {

struct Cause {
  int code;
  std::string text;         // what the runtime tells the program
  const char* driver_name;  // name of the driver's code
};

const std::vector<Cause> causes = {
    {1, "invalid argument", "CUDA_ERROR_INVALID_VALUE"},
    {2, "out of memory", "CUDA_ERROR_OUT_OF_MEMORY"},
    {3, "initialization error", "CUDA_ERROR_NOT_INITIALIZED"},
    {46, "CUDA-capable device(s) is/are busy or unavailable", "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {100, "no CUDA-capable device is detected", "CUDA_ERROR_NO_DEVICE"},
    {101, "invalid device ordinal", "CUDA_ERROR_INVALID_DEVICE"},
    {201, "invalid device context", "CUDA_ERROR_INVALID_CONTEXT"},
    {802, "system not yet initialized", "CUDA_ERROR_SYSTEM_NOT_READY"},
    {803, "system has unsupported display driver / cuda driver combination", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {804, "forward compatibility was attempted on non supported HW", "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
    {999, "unknown error", "CUDA_ERROR_UNKNOWN"},
};

constexpr int newer_than_every_runtime = 14000;

Line refusing_start(int code) {
  return {{"driver_version", newer_than_every_runtime}, {"rules", {{{"call", "cuInit"}, {"code", code}}}}};
}

// Runs the program with and without the shim, and returns the only failure.
Line failure_of(Stage& stage, const std::vector<std::string>& argv, const Cause& cause, const std::string& text) {
  stage.script(refusing_start(cause.code));
  const auto bare = stage.run_bare(argv);
  CHECK(bare.out == std::to_string(cause.code) + " " + text + "\n");
  CHECK(bare.status == 1);
  const auto traced = stage.run_traced(argv);
  INFO(traced);
  CHECK(traced == bare);
  const auto failures = stage.journal().failures();
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].at("tried") == "init");
  CHECK(failures[0].at("start") == true);
  CHECK(failures[0].at("first") == true);
  CHECK(failures[0].at("code") == cause.code);
  return failures[0];
}

void check_report(const Stage& stage, const Cause& cause, const std::vector<std::string>& words) {
  const auto report = failures_in_one_line(stage);
  INFO(report);
  for (const auto& word : words) CHECK(report.find(word) != std::string::npos);
  CHECK(report.find(std::string("(") + cause.driver_name + ")") != std::string::npos);
}

void every_cause_through(const std::string& version) {
  NEEDS(scripted_driver);
  const auto runtime = genuine_runtime(version);
  NEEDS_PART(missing(runtime));
  const auto cause = GENERATE(from_range(causes));
  INFO("cudart " << version << ", cuInit answers " << cause.code);
  const bool is_older_text = version == "11.2" && cause.code == 46;
  Stage stage;
  const auto failure = failure_of(stage, {program("start_runtime"), runtime.file}, cause,
                                  is_older_text ? "all CUDA-capable devices are busy or unavailable" : cause.text);
  CHECK(failure.at("api") == "cudaFree");
  CHECK(failure.at("in") == "cuInit");
  CHECK(failure.at("in_code") == cause.code);
  CHECK(failure.at("in_name") == cause.driver_name);
  check_report(stage, cause, {"cudaFree", "cuInit returned " + std::to_string(cause.code), "start_training"});
}

}  // namespace

TEST_CASE("genuine start: every code through cudart 11.2") { every_cause_through("11.2"); }
TEST_CASE("genuine start: every code through cudart 11.8") { every_cause_through("11.8"); }
TEST_CASE("genuine start: every code through cudart 12") { every_cause_through("12"); }
TEST_CASE("genuine start: every code through cudart 13.0") { every_cause_through("13.0"); }
TEST_CASE("genuine start: every code through cudart 13.5") { every_cause_through("13.5"); }

TEST_CASE("genuine start: every code through the static cudart 13.0") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  const auto cause = GENERATE(from_range(causes));
  INFO("cuInit answers " << cause.code);
  Stage stage;
  const auto failure = failure_of(stage, {program("start_static")}, cause, cause.text);
  CHECK(failure.at("api") == "cuInit");
  CHECK(failure.at("name") == cause.driver_name);
  CHECK_FALSE(failure.contains("in"));
  check_report(stage, cause, {"cuInit failed with " + std::to_string(cause.code), "start_training"});
}
