// Functions of which nothing is recorded but their failures, of which the first one of a process is what people see.
#include <map>

#include "first_failures.hpp"
#include "genuine.hpp"

using namespace gpumem::test;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The only failure of a program that does not notice the shim.
Line only_failure(const Stage& stage, const std::vector<std::string>& argv) {
  const auto bare = stage.run_bare(argv), traced = stage.run_traced(argv);
  INFO(traced);
  CHECK(traced == bare);
  const auto failures = stage.journal().failures();
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].value("first", false));
  return failures[0];
}

std::vector<std::string> simulated_runtime(const std::string& function) {
  return {program("start_runtime"), "libcudart.so.13", function};
}

using Entry = std::pair<std::string, std::string>;
std::map<Entry, int> entries(const Journal& journal) {
  std::map<Entry, int> counts;
  for (const auto& line : journal.events("begin")) ++counts[{line.at("api"), line.value("in", "")}];
  return counts;
}

}  // namespace

TEST_CASE("only used: cudaGetDevice of a runtime that is too new for a genuine driver is the first failing call") {
  NEEDS_PART(missing_driver("550"));
  for (const auto* version : {"13.0", "13.5"}) {
    const auto runtime = genuine_runtime(version);
    NEEDS_PART(missing(runtime));
    INFO("cudart " << version);
    Stage stage(Cuda::none);
    stage.set("LD_LIBRARY_PATH", genuine_driver("550"));
    const auto failure = only_failure(stage, {program("start_runtime"), runtime.file, "cudaGetDevice"});
    CHECK(failure.at("api") == "cudaGetDevice");
    CHECK(failure.at("tried") == "other");
    CHECK(failure.at("code") == 35);
    CHECK(failure.value("start", false));
    const auto report = failures_in_one_line(stage);
    INFO(report);
    CHECK(contains(report, "First failing call: cudaGetDevice failed with 35 (cudaErrorInsufficientDriver)"));
    CHECK(contains(report, "called by start_training (start_runtime.cpp:"));
    CHECK(contains(report, "The installed driver is older than the CUDA runtime"));
  }
}

TEST_CASE("only used: a context that another thread holds is refused when it is made current") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(failing("cuCtxSetCurrent", 216));
  const auto failure = only_failure(stage, {program("first_failures"), "start", "make_context", "set_current"});
  CHECK(failure.at("api") == "cuCtxSetCurrent");
  CHECK(failure.at("tried") == "other");
  CHECK(failure.at("code") == 216);
  CHECK_FALSE(failure.value("start", false));
  const auto report = failures_in_one_line(stage);
  INFO(report);
  CHECK(contains(report, "First failing call: cuCtxSetCurrent failed with 216"));
  CHECK(contains(report, "set_current (first_failures.cpp:"));
  CHECK(contains(report, "in use by another thread"));
}

TEST_CASE("only used: a forked child cannot make a context current, and it is known why") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.run_traced({program("first_failures"), "start", "make_context", "fork", "set_current"});
  const auto report = failures_in_one_line(stage);
  INFO(report);
  CHECK(contains(report, "First failing call: cuCtxSetCurrent failed with 3"));
  CHECK(contains(report, "CUDA does not survive fork"));
}

TEST_CASE("only used: a fault of the device shows in the call that waits for it") {
  NEEDS(scripted_driver);
  Stage stage;
  stage.script(failing("cuStreamSynchronize", 700));
  const auto failure = only_failure(stage, simulated_runtime("cudaStreamSynchronize"));
  CHECK(failure.at("api") == "cudaStreamSynchronize");
  CHECK(failure.at("in") == "cuStreamSynchronize");
  CHECK(failure.at("code") == 700);
  CHECK(failure.at("st") != "0x0");
  CHECK_FALSE(failure.value("start", false));
}

TEST_CASE("only used: each failure of a poll is told, and the first one is the first") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(failing("cuDeviceGetCount", 100));
  const auto journal = journal_after(stage, {"start", "count_devices", "count_devices", "count_devices"});
  REQUIRE(journal.failures().size() == 3);
  for (const auto& failure : journal.failures()) CHECK(failure.at("code") == 100);
  CHECK(journal.failures()[0].value("first", false));
  CHECK_FALSE(journal.failures()[2].value("first", false));
}

TEST_CASE("only used: that there is no such thing, or CUDA no more, is an answer and not a failure") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  for (const int answer : {1, 4}) {
    INFO(answer);
    Stage stage;
    stage.script(failing("cuDeviceGetCount", answer));
    CHECK(journal_after(stage, {"start", "count_devices"}).failures().empty());
  }
}

TEST_CASE("only used: the answer to a question inside a call is not why that fails later") {
  NEEDS(scripted_driver);
  Stage stage;
  stage.script(failing("cuCtxCreate_v2", 2));
  const auto failure = only_failure(stage, {program("start_runtime"), program("asking_runtime.so")});
  CHECK(failure.at("api") == "cudaFree");
  CHECK(failure.at("in") == "cuCtxCreate_v2");
  CHECK(failure.at("in_code") == 2);
}

TEST_CASE("only used: what succeeds leaves one entry while no context was seen, however much it asks inside") {
  NEEDS(scripted_driver);
  Stage stage;
  CHECK(stage.run_traced(simulated_runtime("cudaGetDeviceProperties")).status == 0);
  const auto journal = stage.journal();
  CHECK(entries(journal).at({"cudaGetDeviceProperties", "cuDeviceGetAttribute"}) == 1);
  // At first, and again behind what cuInit, cuDeviceGetCount and cuDeviceGetAttribute wrote.
  CHECK(entries(journal).at({"cudaGetDeviceProperties", ""}) == 4);
  for (const auto& line : journal.of_type("event")) CHECK((line.at("op") == "begin" || line.at("in") == "cuInit"));
}
