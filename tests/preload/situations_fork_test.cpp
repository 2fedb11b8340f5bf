// What a fork, the end of a process, and a failed request before a failed request do to CUDA.
#include "situations.hpp"

using namespace gpumem::test;

namespace {

std::string process_text(const Line& pid) { return "process " + std::to_string(pid.get<int>()); }

// The processes of a Python program that failed.
Lines failed_of(const Stage& stage) {
  Lines failed;
  for (const auto& process : processes_of(stage))
    if (!process.at("failures").empty()) failed.push_back(process);
  return failed;
}

}  // namespace

TEST_CASE("situations: forked children use the context that their parent had made") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto outcome = stage.run_traced(situation({"start", "retain", "alloc=100", "fork=4", "current", "abort"}));
  const auto failed = failed_of(stage);
  REQUIRE(failed.size() == 4);
  for (const auto& process : failed) {
    const auto failure = first_failure_in(process);
    CHECK(failure.at("api") == "cuCtxSetCurrent");
    CHECK(failure.at("code") == 3);
    check_cause(failure, "forked", "proven",
                {process_text(process.at("parent_pid")) + " had started CUDA", "by cuInit", "4 processes", "spawn"});
    CHECK(process.at("parent_pid") == outcome.pid);
  }
  for (const auto& journal : read_journals(stage.journals()))
    CHECK(journal.allocations().size() == (journal.pid() == outcome.pid ? 1 : 0));
}

TEST_CASE("situations: a child of a child of the process that had started CUDA") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.run_traced(situation({"start", "fork=1", "fork=1", "start", "retain"}));
  const auto failed = failed_of(stage);
  REQUIRE(failed.size() == 1);
  check_cause(first_failure_in(failed[0]), "forked", "proven", {"had started CUDA"});
}

TEST_CASE("situations: the parent only asked for the number of devices before it forked") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto failure = failure_of_child(stage, {program("forked_runtime")});
  CHECK(failure.at("api") == "cudaMalloc");
  check_cause(failure, "forked", "proven", {"by cudaGetDeviceCount", "device count"});
}

TEST_CASE("situations: a parent that forks first, or executes its children anew, harms none of them") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  for (const auto& words : {std::vector<std::string>{"fork=3", "start", "retain", "alloc=1"},
                            {"start", "retain", "spawn", "start", "retain", "alloc=1"}}) {
    Stage stage;
    stage.run_traced(situation(words));
    CHECK(failed_of(stage).empty());
    CHECK(processes_of(stage).size() >= 2);
  }
}

TEST_CASE("situations: a call before any start of the driver, and no fork") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto failure = first_failure(stage, situation({"retain"}));
  CHECK(failure.at("code") == 3);
  check_cause(failure, "before_init", "likely", {"no cuInit"});
}

TEST_CASE("situations: Python's multiprocessing by fork after the devices were counted, and by spawn") {
  NEEDS(scripted_driver);
  for (const char* method : {"fork", "spawn"}) {
    INFO(method);
    Stage stage;
    const auto outcome = stage.run_traced({"python3", python_program("multiprocessing_session.py"), method});
    INFO(outcome);
    CHECK(outcome.status == 0);
    const auto failed = failed_of(stage);
    if (method == std::string("spawn")) {
      CHECK(outcome.out == "0\n0\n");
      CHECK(failed.empty());
      continue;
    }
    CHECK(outcome.out == "3\n3\n");
    REQUIRE(failed.size() == 2);
    for (const auto& process : failed)
      check_cause(first_failure_in(process), "forked", "proven", {"by cuInit", "2 processes", "spawn"});
  }
}

TEST_CASE("situations: Python's multiprocessing by fork after NVML alone was asked") {
  NEEDS(scripted_driver);
  Stage stage;
  const auto outcome = stage.run_traced({"python3", python_program("multiprocessing_session.py"), "fork", "nvml"});
  INFO(outcome);
  CHECK(outcome.out == "0\n0\n");
  CHECK(failed_of(stage).empty());
}

TEST_CASE("situations: a retry while the failed step still holds its memory, and one after it was freed") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto outcome =
      stage.run_traced(situation({"start", "retain", "alloc=9000", "alloc=9001", "alloc=9001", "free", "alloc=9001"}));
  const auto failures = process_in(processes_of(stage), outcome.pid).at("failures");
  INFO(failures.dump(2));
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].at("count") == 2);
  CHECK(failures[0].at("outcome") == "recovered");
  CHECK(failures[0].at("freed_in_between") == 9000ull << 20);
}

TEST_CASE("situations: objects that outlive main free their memory when the driver has gone") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto outcome = stage.run_traced(situation({"free_at_exit", "start", "retain", "alloc=5", "alloc=6"}));
  INFO(outcome);
  CHECK(outcome.signal == SIGABRT);
  const auto failures = process_in(processes_of(stage), outcome.pid).at("failures");
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].at("count") == 2);
  check_cause(failures[0], "driver_gone", "proven");
}
