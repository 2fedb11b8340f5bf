// No call of CUDA comes from the shim where a driver must not be called: the simulated driver, told to be strict, ends
// a process that does so.
#include "stage.hpp"

using namespace gpumem::test;

namespace {

using Argv = std::vector<std::string>;

const Line strict = {{"strict", true}};

void goes_on(const Argv& argv) {
  Stage stage;
  stage.script(strict);
  const auto bare = stage.run_bare(argv);
  INFO(argv[0] << (argv.size() > 1 ? " " + argv[1] : ""));
  INFO(bare);
  // Abort is one of the ends that programs choose; what the simulated driver says is not.
  CHECK(bare.err.find("simcuda: strict") == std::string::npos);
  CHECK(stage.run_traced(argv) == bare);
  CHECK_FALSE(read_journals(stage.journals()).empty());
}

}  // namespace

TEST_CASE("misplaced calls: none while host functions and stream callbacks run") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  goes_on({program("odd_places"), "callbacks"});
}

TEST_CASE("misplaced calls: none while a program allocates, and fails to, in a capture") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  goes_on({program("odd_places"), "capture"});
}

TEST_CASE("misplaced calls: none in forked children, nor in their parent") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  goes_on({program("odd_places"), "fork"});
  goes_on({program("forked"), "idle"});
}

TEST_CASE("misplaced calls: none at any kind of end") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  goes_on({program("odd_places"), "exit"});
  for (const char* way : {"return", "exit", "_exit", "quick_exit", "abort", "segfault", "exec"})
    goes_on({program("exits"), way});
}

TEST_CASE("misplaced calls: none where arguments are wrong or outputs missing") {
  NEEDS(scripted_driver);
  goes_on({program("conformance_driver")});
  goes_on({program("conformance_runtime")});
}

TEST_CASE("misplaced calls: none where libcuda calls the shim from inside cuInit") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(strict);
  const auto bare = stage.run_bare({program("route_lookup"), "dlsym"});
  stage.set("CUDA_INJECTION64_PATH", shim());
  CHECK(stage.run_traced({program("route_lookup"), "dlsym"}) == bare);
  CHECK(stage.journal().of_type("coverage").size() == 1);
}

TEST_CASE("misplaced calls: the simulated driver would catch each of them") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(strict).set("LD_PRELOAD", program("calls_inside.so"));
  const auto words_of = [&](const char* place) { return stage.run_bare({program("odd_places"), place}).err; };
  CHECK(words_of("callbacks") == "simcuda: strict: cuMemGetInfo_v2 called from a host function\n");
  CHECK(words_of("fork").find("simcuda: strict: cuMemGetInfo_v2 called in a forked child\n") != std::string::npos);
  CHECK(words_of("exit") == "simcuda: strict: cuMemGetInfo_v2 called after exit began\n");
}
