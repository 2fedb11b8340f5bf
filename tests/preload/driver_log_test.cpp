// What the driver has written to its own error log stands in the journal with the failure that it is about.
#include "first_failures.hpp"

using namespace gpumem::test;

namespace {

Line logging(const std::string& call, int code, const std::string& text) {
  return {{"call", call}, {"code", code}, {"log", text}};
}

Line script_of(const Lines& rules) { return {{"rules", rules}}; }

std::vector<std::string> logs_of(const Journal& journal) {
  std::vector<std::string> logs;
  for (const auto& state : journal.of_type("state")) {
    // [time][thread][CUDA][severity] text
    const auto log = state.value("log", "");
    logs.push_back(log.substr(std::min(log.find("[CUDA]"), log.size())));
  }
  return logs;
}

using Logs = std::vector<std::string>;

}  // namespace

TEST_CASE("driver log: told at a failed start, and at later failures only what is new") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  Line first = logging("cuInit", 999, "the device does not answer");
  first["nth"] = 1;
  stage.script(script_of({first, logging("cuCtxCreate_v2", 2, "no room"), {{"call", "cuMemAlloc_v2"}, {"code", 2}}}));
  CHECK(logs_of(journal_after(stage, {"start", "start", "make_context", "allocate"})) ==
        Logs{"[CUDA][E] the device does not answer\n", "[CUDA][E] no room\n", ""});
}

TEST_CASE("driver log: told although the runtime has unloaded the driver by then") {
  NEEDS(scripted_driver);
  NEEDS(genuine_runtime);
  Stage stage(Cuda::genuine_runtime_over_simulated_driver);
  stage.script(script_of({logging("cuInit", 999, "the device does not answer")}));
  stage.run_traced({program("start_shared")});
  CHECK(logs_of(stage.journal()) == Logs{"[CUDA][E] the device does not answer\n"});
}

TEST_CASE("driver log: not read in a callback nor in a forked child") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(script_of({logging("cuMemAlloc_v2", 800, "not here")}));
  CHECK(logs_of(journal_after(stage, {"start", "make_context", "call_back"})) == Logs{""});
  Stage forking;
  forking.script(script_of({logging("cuMemAlloc_v2", 3, "not here")})).set("SIMCUDA_TRACE", forking.folder() / "trace");
  forking.run_traced({program("first_failures"), "start", "fork", "allocate"});
  CHECK(read_journals(forking.journals()).size() == 2);
  CHECK(read_text(forking.folder() / "trace").find("cuLogs") == std::string::npos);
}

TEST_CASE("driver log: of a long one the newest part is told") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(script_of(
      {{{"call", "cuMemFree_v2"}, {"log", std::string(1000, 'x')}}, logging("cuCtxCreate_v2", 2, "the newest")}));
  const auto log = logs_of(journal_after(stage, {"start", "free_nothing", "free_nothing", "free_nothing",
                                                 "free_nothing", "free_nothing", "make_context"}))
                       .back();
  CHECK(log.starts_with("[CUDA][W] older messages are missing\n"));
  CHECK(log.ends_with("[CUDA][E] the newest\n"));
  CHECK(log.size() < 4096);
}
