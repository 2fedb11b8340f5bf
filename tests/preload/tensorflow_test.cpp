// TensorFlow asks the driver itself before it starts the runtime, through a library of its own that exports the
// functions of both; programs/tensorflow_like does the same. TensorFlow itself is run where scripts/frameworks has made
// it.
#include <map>
#include <regex>

#include "genuine.hpp"

using namespace gpumem::test;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Line failing(const std::string& call, int nth) {
  return {{"devices", {Line::object(), Line::object()}}, {"rules", {{{"call", call}, {"nth", nth}, {"code", 2}}}}};
}

// The only failure, a start that failed with 2, of a program that said `text` with the shim and without it.
Line failed_start(Stage& stage, const std::vector<std::string>& argv, const std::string& text,
                  const std::string& tried) {
  const auto bare = stage.run_bare(argv);
  INFO(bare);
  CHECK(bare.status == 1);
  CHECK(contains(bare.out, text + " failed. Status: out of memory\n"));
  CHECK(stage.run_traced(argv) == bare);
  const auto failures = stage.journal().failures();
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].at("tried") == tried);
  CHECK(failures[0].at("code") == 2);
  CHECK(failures[0].value("first", false));
  CHECK(failures[0].value("start", false));
  return failures[0];
}

// Only cudart is a runtime, and not the library that passes calls on to it.
void check_runtime(const Journal& journal, const std::string& file) {
  std::map<std::string, std::string> roles;
  for (const auto& module : journal.of_type("module"))
    if (module.at("role").is_string()) roles[module.at("path")] = module.at("role");
  for (const auto& [path, role] : roles) CHECK((role == "runtime") == contains(path, file));
}

void check_report(const Stage& stage, const std::string& words) {
  const auto report = failures_in_one_line(stage);
  INFO(report);
  CHECK(contains(report, words));
  CHECK(contains(report, "called by create_devices (tensorflow_like.cpp:"));
  CHECK(contains(report, "CUDA did not start"));
}

void second_start_fails_over(const std::string& version, std::vector<std::string> arguments = {}) {
  NEEDS(scripted_driver);
  const auto runtime = genuine_runtime(version);
  NEEDS_PART(missing(runtime));
  Stage stage;
  auto script = failing("cuInit", 2);
  script["driver_version"] = 14000;  // newer than every runtime
  stage.script(script).set("CUDA_STUBS_RUNTIME", runtime.file);
  arguments.insert(arguments.begin(), program("tensorflow_like"));
  const auto failure = failed_start(stage, arguments, "cudaGetDevice()", "other");
  CHECK(failure.at("api") == "cudaGetDevice");
  CHECK(failure.at("in") == "cuInit");
  check_runtime(stage.journal(), runtime.file);
  check_report(stage, "cudaGetDevice failed with 2 (cudaErrorMemoryAllocation), because cuInit returned 2");
}

// Which call of a simulated runtime makes the context of the second device, and what TensorFlow says of it.
void context_fails_over(const std::string& runtime, const std::string& api, const std::string& text) {
  NEEDS(scripted_driver);
  Stage stage;
  stage.script(failing("cuDevicePrimaryCtxRetain", 2)).set("CUDA_STUBS_RUNTIME", runtime);
  const auto failure = failed_start(stage, {program("tensorflow_like")}, text + " on GPU:1", "init");
  CHECK(failure.at("api") == api);
  CHECK(failure.at("in") == "cuDevicePrimaryCtxRetain");
  CHECK(failure.at("d") == 1);
  check_runtime(stage.journal(), runtime);
  check_report(stage, api + " failed with 2 (cudaErrorMemoryAllocation), because cuDevicePrimaryCtxRetain returned 2");
}

}  // namespace

TEST_CASE("tensorflow: its runtime fails after its own start of the driver, cudart 11.2") {
  second_start_fails_over("11.2");
}
TEST_CASE("tensorflow: its runtime fails after its own start of the driver, cudart 11.8") {
  second_start_fails_over("11.8");
}
TEST_CASE("tensorflow: its runtime fails after its own start of the driver, cudart 12") {
  second_start_fails_over("12");
}
TEST_CASE("tensorflow: its runtime fails after its own start of the driver, cudart 13.0") {
  second_start_fails_over("13.0");
}
TEST_CASE("tensorflow: its runtime fails after its own start of the driver, cudart 13.5") {
  second_start_fails_over("13.5");
}

TEST_CASE("tensorflow: its runtime fails although the program has a context already, as up to 2.3") {
  second_start_fails_over("11.8", {"with_context"});
}

TEST_CASE("tensorflow: no context on the second device, with a runtime before CUDA 12") {
  context_fails_over("libcudart.so.11.0", "cudaFree", "CUDA runtime implicit initialization");
}

TEST_CASE("tensorflow: no context on the second device, with a runtime that makes it when the device is chosen") {
  context_fails_over("libcudart.so.12", "cudaSetDevice", "cudaSetDevice()");
  context_fails_over("libcudart.so.13", "cudaSetDevice", "cudaSetDevice()");
}

TEST_CASE("tensorflow: every call that is passed on is recorded once") {
  NEEDS(scripted_driver);
  Stage stage;
  stage.set("CUDA_STUBS_RUNTIME", "libcudart.so.12");
  const std::vector<std::string> argv{program("tensorflow_like"), "with_context"};
  const auto bare = stage.run_bare(argv);
  INFO(bare);
  CHECK(bare.status == 0);
  CHECK(stage.run_traced(argv) == bare);
  const auto journal = stage.journal();
  for (const auto& event : journal.of_type("event")) CHECK(event.at("api") != event.value("in", ""));
  for (const char* operation : {"begin", "init"}) {
    int starts = 0;
    for (const auto& event : journal.events(operation)) starts += event.at("api") == "cuInit";
    CHECK(starts == 1);
  }
  CHECK(journal.events("context").size() == 1);
}
