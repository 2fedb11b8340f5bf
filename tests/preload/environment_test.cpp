// The environment that a program is started with, and the one that it gives to its children, are its own affair.
#include <algorithm>

#include "stage.hpp"

using namespace gpumem::test;

TEST_CASE("environment: nothing is set but LD_PRELOAD") {
  NEEDS(driver);
  Stage stage;
  std::vector<std::string> argv{"/lib64/ld-linux-x86-64.so.2", demo()};
  if (const auto path = stage.bare_environment().find("LD_LIBRARY_PATH"); path != stage.bare_environment().end())
    argv = {argv[0], "--library-path", path->second, demo()};
  const auto bare = stage.run({argv, {}});
  CHECK(bare.status == 0);
  const auto traced = stage.run({argv, {{"LD_PRELOAD", shim()}}});
  CHECK(traced.status == bare.status);
  CHECK(traced.out == bare.out);
  CHECK(traced.err.rfind(bare.err, 0) == 0);
  CHECK(std::count(traced.err.begin(), traced.err.end(), '\n') ==
        std::count(bare.err.begin(), bare.err.end(), '\n') + 1);
  CHECK(read_only_journal(stage.folder() / "gpumem").has_end());
  // The program is named, and not the loader, which is what the kernel started.
  CHECK(stage.gpumem({"report", stage.folder() / "gpumem"}).out.find("make_activations (demo.cpp:") !=
        std::string::npos);
}

TEST_CASE("environment: a program that sets LD_PRELOAD for its children decides what they have") {
  NEEDS(driver);
  NEEDS(nvcc);
  const auto other = program("first_interposer.so");
  for (const bool keeps : {true, false}) {
    INFO(keeps);
    Stage stage;
    const std::string shell = std::string("LD_PRELOAD=$1") + (keeps ? ":$LD_PRELOAD" : "") + " \"$0\"; echo $?";
    const std::vector<std::string> argv{"sh", "-c", shell, program("route_linked"), other};
    const auto bare = stage.run_bare(argv);
    CHECK(bare.out.find("first saw 3 allocations") != std::string::npos);
    CHECK(stage.run_traced(argv) == bare);
    CHECK(read_journals(stage.journals()).size() == (keeps ? 1 : 0));
  }
}
