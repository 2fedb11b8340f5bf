// No program notices the shim: same output, same codes, same status.
#include "stage.hpp"

using namespace gpumem::test;

namespace {

using Argv = std::vector<std::string>;

Outcome unnoticed(const Stage& stage, const Argv& argv) {
  const auto bare = stage.run_bare(argv);
  const auto traced = stage.run_traced(argv);
  INFO(argv[0] << (argv.size() > 1 ? " " + argv[1] : ""));
  CHECK(traced == bare);
  CHECK_FALSE(bare.timed_out);
  return traced;
}

}  // namespace

TEST_CASE("transparency: every driver function with usual and unusual arguments") {
  NEEDS(scripted_driver);
  Stage stage;
  const auto outcome = unnoticed(stage, {program("conformance_driver")});
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("cuMemAlloc_v2, 1009 bytes: 0") != std::string::npos);
}

TEST_CASE("transparency: every runtime function with usual and unusual arguments") {
  NEEDS(scripted_driver);
  Stage stage;
  const auto outcome = unnoticed(stage, {program("conformance_runtime")});
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("cudaMalloc, 1009 bytes: 0") != std::string::npos);
}

TEST_CASE("transparency: every runtime function of a genuine runtime that cannot start") {
  NEEDS(scripted_driver);
  NEEDS(genuine_runtime);
  Stage stage(Cuda::genuine_runtime_over_simulated_driver);
  stage.script({{"rules", {{{"call", "cuInit"}, {"code", 999}}}}});
  const auto outcome = unnoticed(stage, {program("conformance_runtime")});
  CHECK(outcome.out.find("cudaMalloc, 1009 bytes: 999") != std::string::npos);
}

TEST_CASE("transparency: a training session in CUDA C++") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  CHECK(unnoticed(stage, {program("training_shared")}).out.find("weights: 0 cudaSuccess") != std::string::npos);
  unnoticed(stage, {program("training_static")});
}

TEST_CASE("transparency: a name is found only where it would be found without the shim") {
  NEEDS(driver);
  Stage stage;
  const auto outcome = unnoticed(stage, {program("feature_test")});
  CHECK(outcome.out.find("the library has cuInit: yes") != std::string::npos);
  CHECK(outcome.out.find("the default scope has cuInit: yes") != std::string::npos);
  CHECK(outcome.out.find("the default scope has cudaMalloc: yes") == std::string::npos);
}

TEST_CASE("transparency: every way to reach the driver") {
  NEEDS(driver);
  NEEDS(runtime);
  Stage stage;
  for (const Argv& argv :
       {Argv{program("route_linked")}, Argv{program("route_linked"), "default"}, Argv{program("route_lookup"), "dlsym"},
        Argv{program("route_lookup"), "resolver"}, Argv{program("route_lookup"), "resolver_v2"},
        Argv{program("route_lookup"), "resolver_from_resolver"}, Argv{program("route_entry_point"), "any"},
        Argv{program("route_entry_point"), "by_version"}}) {
    const auto outcome = unnoticed(stage, argv);
    CHECK(outcome.out.find("frees it again: 1") != std::string::npos);
  }
}

TEST_CASE("transparency: every way to end") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  for (const char* way : {"return", "exit", "_exit", "quick_exit", "abort", "segfault", "exec"}) {
    const auto outcome = unnoticed(stage, {program("exits"), way});
    CHECK(outcome.out.find("takes 7013: 0") != std::string::npos);
  }
}

TEST_CASE("transparency: a process that forks") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  for (const char* child : {"idle", "uses_cuda", "first_in_child"}) {
    const auto outcome = unnoticed(stage, {program("forked"), child});
    CHECK(outcome.out.find("child ended with 0") != std::string::npos);
  }
}

TEST_CASE("transparency: the demonstration") {
  NEEDS(driver);
  Stage stage;
  const auto outcome = unnoticed(stage, {demo()});
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "evaluation skipped: out of memory\ntrained 24 steps\n");
}

TEST_CASE("transparency: the demonstration where the loader finds no CUDA") {
  Stage stage(Cuda::none);
  unnoticed(stage, {demo()});
}

TEST_CASE("transparency: other preloaded tools see the same calls, before the shim and after it") {
  NEEDS(driver);
  NEEDS(nvcc);
  const auto first = program("first_interposer.so"), second = program("second_interposer.so");
  Stage stage;
  stage.set("LD_PRELOAD", first + ":" + second);
  const auto bare = stage.run_bare({program("route_linked")});
  CHECK(bare.out.find("first saw 3 allocations") != std::string::npos);

  for (const auto& order : {shim().string() + ":" + first + ":" + second, first + ":" + shim().string() + ":" + second,
                            first + ":" + second + ":" + shim().string()}) {
    Stage between;
    auto environment = between.traced_environment();
    environment["LD_PRELOAD"] = order;
    const auto traced = between.run({{program("route_linked")}, environment});
    INFO(order);
    CHECK(traced == bare);
    CHECK(between.journal().allocations_of(10007).size() == 1);
  }
}

TEST_CASE("transparency: another tool that stands before dlsym, before the shim and after it") {
  NEEDS(driver);
  NEEDS(nvcc);
  const auto other = program("dlsym_interposer.so");
  for (const auto& order : {shim().string() + ":" + other, other + ":" + shim().string()}) {
    Stage stage;
    auto environment = stage.bare_environment();
    environment["LD_PRELOAD"] = other;
    const auto bare = stage.run({{program("route_lookup"), "dlsym"}, environment});
    environment = stage.traced_environment();
    environment["LD_PRELOAD"] = order;
    const auto traced = stage.run({{program("route_lookup"), "dlsym"}, environment});
    INFO(order);
    CHECK(traced.out.substr(0, traced.out.find("dlsym interposer")) ==
          bare.out.substr(0, bare.out.find("dlsym interposer")));
    CHECK(traced.out.find("dlsym interposer saw") != std::string::npos);
    CHECK(traced.err.empty());
    // A tool in front of the shim that asks glibc itself for dlsym passes the shim by.
    if (order.rfind(shim().string(), 0) == 0) CHECK(stage.journal().allocations_of(10007).size() == 1);
  }
}
