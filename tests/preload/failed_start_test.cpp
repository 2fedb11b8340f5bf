// CUDA does not start: NVIDIA's own runtime says so in its own words, and gpumem names the call and the program's
// function.
#include <map>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

struct Cause {
  int code;
  const char* text;         // what the runtime tells the program
  const char* driver_name;  // name of the driver's code
};

const Cause causes[] = {
    {2, "out of memory", "CUDA_ERROR_OUT_OF_MEMORY"},
    {46, "CUDA-capable device(s) is/are busy or unavailable", "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {100, "no CUDA-capable device is detected", "CUDA_ERROR_NO_DEVICE"},
    {802, "system not yet initialized", "CUDA_ERROR_SYSTEM_NOT_READY"},
    {999, "unknown error", "CUDA_ERROR_UNKNOWN"},
};

Line refusing_start(int code) { return {{"rules", {{{"call", "cuInit"}, {"code", code}}}}}; }

Journal start(Stage& stage, const std::string& name, const Cause& cause) {
  stage.script(refusing_start(cause.code));
  const auto outcome = stage.run_traced({program(name)});
  INFO(outcome);
  CHECK(outcome.out == std::to_string(cause.code) + " " + cause.text + "\n");
  CHECK(outcome == stage.run_bare({program(name)}));
  return stage.journal();
}

// A module may be described in several lines; later ones add to the first.
Line module_with_role(const Journal& journal, const std::string& role) {
  std::map<int, Line> modules;
  for (const auto& line : journal.of_type("module"))
    modules.try_emplace(line.at("id"), Line::object()).first->second.update(line);
  for (const auto& [id, module] : modules)
    if (module.value("role", Line()) == role) return module;
  return {{"path", "no module is " + role}, {"asks", 0}};
}

void check_report(const Stage& stage, const char* api) {
  const auto report = stage.gpumem({"failures", stage.journals()});
  INFO(report);
  CHECK(report.status == 0);
  CHECK(report.out.find(api) != std::string::npos);
  CHECK(report.out.find("start_training") != std::string::npos);
  CHECK(report.out.find("13.0") != std::string::npos);
}

}  // namespace

TEST_CASE("failed start: through the genuine shared runtime") {
  NEEDS(scripted_driver);
  NEEDS(genuine_runtime);
  for (const auto& cause : causes) {
    INFO("cuInit answers " << cause.code);
    Stage stage(Cuda::genuine_runtime_over_simulated_driver);
    const auto journal = start(stage, "start_shared", cause);
    REQUIRE(journal.failures().size() == 1);
    const auto failure = journal.failures()[0];
    CHECK(failure.at("tried") == "init");
    CHECK(failure.at("api") == "cudaFree");
    CHECK(failure.at("in") == "cuInit");
    CHECK(failure.at("code") == cause.code);
    CHECK(failure.at("in_code") == cause.code);
    CHECK(failure.at("in_name") == cause.driver_name);
    CHECK(failure.at("start") == true);
    CHECK(failure.at("first") == true);
    CHECK(failure.contains("took"));
    check_report(stage, "cudaFree");
  }
}

TEST_CASE("failed start: through the static runtime, which nvcc takes by default") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  for (const auto& cause : causes) {
    INFO("cuInit answers " << cause.code);
    Stage stage;
    const auto journal = start(stage, "start_static", cause);
    REQUIRE(journal.failures().size() == 1);
    const auto failure = journal.failures()[0];
    CHECK(failure.at("tried") == "init");
    CHECK(failure.at("api") == "cuInit");
    CHECK(failure.at("code") == cause.code);
    CHECK(failure.at("name") == cause.driver_name);
    CHECK(failure.at("start") == true);
    check_report(stage, "cuInit");
  }
}

TEST_CASE("failed start: the journal knows which file holds the runtime and which version it is") {
  NEEDS(scripted_driver);
  NEEDS(genuine_runtime);
  NEEDS(nvcc);
  Stage shared(Cuda::genuine_runtime_over_simulated_driver), linked;
  const auto holder = module_with_role(start(shared, "start_shared", causes[0]), "runtime");
  CHECK(holder.at("path").get<std::string>().find("libcudart.so.13") != std::string::npos);
  CHECK(holder.at("asks") == 13000);
  const auto program_itself = module_with_role(start(linked, "start_static", causes[0]), "static_runtime");
  CHECK(program_itself.at("path") == program("start_static"));
  CHECK(program_itself.at("asks") == 13000);
}

TEST_CASE("failed start: a driver that is too old is refused by the runtime alone, before cuInit") {
  NEEDS(genuine_runtime);
  NEEDS(scripted_driver);
  Stage stage(Cuda::genuine_runtime_over_simulated_driver);
  stage.script({{"driver_version", 11040}});
  const auto outcome = stage.run_traced({program("start_shared")});
  CHECK(outcome.out == "35 CUDA driver version is insufficient for CUDA runtime version\n");
  const auto failures = stage.journal().failures();
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].at("api") == "cudaFree");
  CHECK(failures[0].at("code") == 35);
  CHECK_FALSE(failures[0].contains("in"));
}

TEST_CASE("failed start: a variable that the program changed before it started CUDA") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(refusing_start(100)).set("CUDA_VISIBLE_DEVICES", "0");
  stage.run_traced({program("start_static"), "CUDA_VISIBLE_DEVICES", "7"});
  const auto journal = stage.journal();
  CHECK(journal.process().at("env").at("CUDA_VISIBLE_DEVICES") == "0");
  CHECK(journal.failures().at(0).at("env_now") == Line({{"CUDA_VISIBLE_DEVICES", "7"}}));
}

TEST_CASE("failed start: the wait for a driver that answers late is measured") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"rules", {{{"call", "cuInit"}, {"code", 999}, {"delay_ms", 150}}}}});
  stage.run_traced({program("start_static")});
  CHECK(stage.journal().failures().at(0).at("took").get<std::uint64_t>() >= 150'000'000u);
}
