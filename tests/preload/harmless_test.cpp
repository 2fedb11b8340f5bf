// What a preloaded library could do to its host, and must not.
#include "stage.hpp"

using namespace gpumem::test;

namespace {

// Without GPUMEM_QUIET: the shim has something to say.
Outcome run_loudly(const Stage& stage, std::vector<std::string> argv) {
  auto environment = stage.traced_environment();
  environment.erase("GPUMEM_QUIET");
  return stage.run({std::move(argv), environment, {}, std::chrono::seconds(30)});
}

}  // namespace

TEST_CASE("harmless: a message for a reader that has gone, or that does not read, costs the program nothing") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const std::string gone = "\"$0\" return 2>&1 > /dev/null | true; exit ${PIPESTATUS[0]}";
  const std::string idle =
      "mkfifo full; exec 3<> full; yes | dd of=full bs=4096 oflag=nonblock count=99 2> /dev/null; "
      "\"$0\" return > /dev/null 2>&3";
  const std::string limited = "head -c 4000 /dev/zero > log; ulimit -f 1; exec \"$0\" return > /dev/null 2>> log";
  for (const auto& shell : {gone, idle, limited}) {
    INFO(shell);
    const auto outcome = run_loudly(stage, {"bash", "-c", shell, program("exits")});
    CHECK_FALSE(outcome.timed_out);
    CHECK(outcome.status == 4);
  }
}

TEST_CASE("harmless: a thread whose cancellation is pending is not ended inside a call") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto bare = stage.run_bare({program("cancelled")});
  CHECK(bare.out.find("reached the end\n1\n") != std::string::npos);
  CHECK(stage.run_traced({program("cancelled")}) == bare);
  CHECK(stage.journal().allocations_of(10007).size() == 1);
}

TEST_CASE("harmless: a call that is left by a jump leaves nothing behind that later calls stumble over") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"rules", {{{"call", "cuMemAlloc_v2"}, {"nth", 1}, {"delay_ms", 600000}}}}});
  const auto bare = stage.run_bare({program("left_by_jump")});
  CHECK(bare.out.find("the call was left\ndeeper: 0\n") != std::string::npos);
  CHECK(stage.run_traced({program("left_by_jump")}) == bare);
  CHECK(stage.journal().allocations_of(4001).size() == 1);
}

TEST_CASE("harmless: a library whose initializer waits for a thread that uses CUDA") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const std::vector<std::string> argv{program("uses_library"), program("waits_in_initializer.so")};
  const auto bare = stage.run_bare(argv);
  CHECK(bare.out == "math_create: 0\n");
  CHECK(stage.run_traced(argv) == bare);
}

TEST_CASE("harmless: a limit of address space is left to the program") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const std::string limited = "ulimit -v 400000; exec \"$0\" \"$@\"";
  const std::vector<std::string> argv{"bash", "-c", limited, program("route_lookup"), "dlsym"};
  const auto bare = stage.run_bare(argv);
  if (bare.status != 0) return skipped("the simulated driver itself does not run in 400 MB of address space");
  CHECK(stage.run_traced(argv) == bare);
}
