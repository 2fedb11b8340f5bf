// Calls that do not pass through the shim: the program is unharmed, and the report says that something is missing, and
// why.
#include "genuine.hpp"

using namespace gpumem::test;

namespace {

using Argv = std::vector<std::string>;

std::string plugin() { return program("session_plugin.so"); }

// What the report says, without its line breaks.
std::string report_in_one_line(const Stage& stage) {
  auto text = stage.gpumem({"report", stage.journals()}).out;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;)
    text.replace(at, text.find_first_not_of(" \n", at) - at, " ");
  return text;
}

// Runs a program without and with the shim, and gives the coverage line of its only journal.
Line passed_by(Stage& stage, const Argv& argv, Environment more = {}) {
  const auto bare = stage.run_bare(argv);
  CHECK(bare.status == 0);
  auto environment = stage.traced_environment();
  environment.merge(more);
  CHECK(stage.run({argv, environment}) == bare);
  const auto lines = stage.journal().of_type("coverage");
  REQUIRE(lines.size() == 1);
  return lines[0];
}

Environment injected() { return {{"CUDA_INJECTION64_PATH", shim()}}; }

}  // namespace

TEST_CASE("coverage: a library opened with RTLD_DEEPBIND") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto line = passed_by(stage, {program("opens_apart"), "deepbind", plugin()});
  CHECK(line.at("when") == "end");
  CHECK(line.at("seen") == false);
  CHECK(stage.journal().events("alloc").empty());
  CHECK(report_in_one_line(stage).find("neither a call of CUDA nor a look-up of one was seen") != std::string::npos);
  CHECK(report_in_one_line(stage).find("RTLD_DEEPBIND") != std::string::npos);
}

TEST_CASE("coverage: a library in a namespace of its own") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto line = passed_by(stage, {program("opens_apart"), "dlmopen", plugin()});
  CHECK(line.at("when") == "end");
  CHECK(line.at("apart") == true);
  CHECK(line.at("library").get<std::string>().find("libcuda.so.1") != std::string::npos);
  CHECK(report_in_one_line(stage).find("a namespace of its own (dlmopen)") != std::string::npos);
}

TEST_CASE("coverage: a folder's report does not pass over a process whose calls went unseen") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  for (const char* how : {"deepbind", "dlmopen"}) stage.run_traced({program("opens_apart"), how, plugin()});
  const auto report = report_in_one_line(stage);
  CHECK(report.find("2 journals in ") == 0);
  CHECK(report.find("RTLD_DEEPBIND") != std::string::npos);
  CHECK(report.find("(dlmopen)") != std::string::npos);
}

TEST_CASE("coverage: libcuda itself tells of a start that was not seen") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto line = passed_by(stage, {program("opens_apart"), "deepbind", plugin()}, injected());
  CHECK(line.at("when") == "init");
  CHECK(line.at("seen") == false);
  CHECK(report_in_one_line(stage).find("a cuInit of " + line.at("library").get<std::string>() +
                                       " did not pass through the shim") != std::string::npos);
}

TEST_CASE("coverage: libcuda itself tells of a start that was seen, and no report complains") {
  NEEDS(driver);
  NEEDS(nvcc);
  for (const Argv& argv : {Argv{program("opens_apart"), "local", plugin()}, Argv{program("route_linked")},
                           Argv{program("route_lookup"), "resolver_from_resolver"}}) {
    Stage stage;
    const auto line = passed_by(stage, argv, injected());
    CHECK(line.at("when") == "init");
    CHECK(line.at("seen") == true);
    CHECK(stage.journal().allocations_of(10007).size() == 1);
    CHECK(report_in_one_line(stage).find("Not seen") == std::string::npos);
  }
}

TEST_CASE("coverage: a program that forgot LD_PRELOAD is told so by libcuda") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto line =
      passed_by(stage, {program("route_lookup"), "dlsym"},
                {{"CUDA_INJECTION64_PATH", shim()}, {"GPUMEM_DIR", stage.journals()}, {"GPUMEM_QUIET", "1"}});
  CHECK(line.at("seen") == true);
  auto environment = stage.traced_environment();
  environment.erase("LD_PRELOAD");
  environment.merge(injected());
  CHECK(stage.run({{program("route_lookup"), "dlsym"}, environment}) ==
        stage.run_bare({program("route_lookup"), "dlsym"}));
  const auto journal = read_journals(stage.journals()).back();
  CHECK(journal.of_type("coverage").at(0).at("seen") == false);
}

TEST_CASE("coverage: genuine drivers tell of a start too, though it fails for want of a device") {
  for (const std::string driver : {"550", "535"}) {
    NEEDS_PART(missing_driver(driver));
    for (const bool preloaded : {true, false}) {
      INFO(driver << (preloaded ? " preloaded" : " not preloaded"));
      Stage stage(Cuda::none);
      stage.set("LD_LIBRARY_PATH", genuine_driver(driver));
      auto environment = stage.traced_environment();
      environment.merge(injected());
      if (!preloaded) environment.erase("LD_PRELOAD");
      CHECK(stage.run({{program("starts_driver")}, environment}) == stage.run_bare({program("starts_driver")}));
      const auto lines = stage.journal().of_type("coverage");
      REQUIRE(lines.size() == 1);
      CHECK(lines[0].at("seen") == preloaded);
    }
  }
}

TEST_CASE("coverage: a driver that was opened and left alone is only a suspicion") {
  NEEDS(driver);
  Stage stage;
  auto environment = stage.traced_environment();
  environment.erase("GPUMEM_QUIET");
  const Argv argv = {program("opens_apart"), "only", "libcuda.so.1"};
  // Not even a line on stderr.
  CHECK(stage.run({argv, environment}) == stage.run_bare(argv));
  CHECK(stage.journal().of_type("coverage").size() == 1);
  CHECK(report_in_one_line(stage).find("Either the program made none") != std::string::npos);
}

TEST_CASE("coverage: a program that was started with the driver and never calls it leaves no journal") {
  NEEDS(driver);
  Stage stage;
  stage.set("LD_PRELOAD", "libcuda.so.1");
  // Unlike a shell it ends by exit().
  CHECK(stage.run_traced({"true"}) == stage.run_bare({"true"}));
  CHECK(read_journals(stage.journals()).empty());
}

TEST_CASE("coverage: a program that only looks whether CUDA is there leaves no journal") {
  NEEDS(driver);
  Stage stage;
  CHECK(stage.run_traced({program("feature_test")}) == stage.run_bare({program("feature_test")}));
  CHECK(read_journals(stage.journals()).empty());
}

TEST_CASE("coverage: certain gaps are told at exit, unless GPUMEM_QUIET or GPUMEM_DISABLE is set") {
  NEEDS(driver);
  NEEDS(nvcc);
  const Argv argv = {program("opens_apart"), "dlmopen", plugin()};
  Stage stage;
  auto environment = stage.traced_environment();
  environment.erase("GPUMEM_QUIET");
  CHECK(stage.run({argv, environment}).err.find("and calls that were not seen. See: gpumem report ") !=
        std::string::npos);
  Stage off;
  off.set("GPUMEM_DISABLE", "1");
  CHECK(off.run_traced(argv).err.empty());
  CHECK(read_journals(off.journals()).empty());
}
