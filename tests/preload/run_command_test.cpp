// `gpumem run` starts a program under the shim and is otherwise as if it were not there.
#include <signal.h>
#include <unistd.h>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

std::vector<std::string> run_of(const Stage& stage, std::vector<std::string> argv) {
  std::vector<std::string> arguments{"run", "-o", stage.journals(), "--quiet", "--"};
  arguments.insert(arguments.end(), argv.begin(), argv.end());
  return arguments;
}

Line status_file(const Stage& stage) {
  for (const auto& entry : std::filesystem::directory_iterator(stage.journals()))
    if (entry.path().filename().string().find(".status.json") != std::string::npos)
      return Line::parse(read_text(entry.path()));
  return {};
}

}  // namespace

TEST_CASE("run: ends as the program ends, with its output") {
  NEEDS(driver);
  NEEDS(nvcc);
  for (const char* way : {"return", "exit", "_exit", "abort", "segfault"}) {
    INFO(way);
    Stage stage;
    const auto bare = stage.run_bare({program("exits"), way});
    const auto under = stage.gpumem(run_of(stage, {program("exits"), way}));
    CHECK(under.out == bare.out);
    CHECK(under.status == bare.status);
    CHECK(under.signal == bare.signal);
    CHECK(stage.journal().allocations_of(7013).size() == 1);
  }
}

TEST_CASE("run: the status file says how the process ended") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage exited, aborted;
  exited.gpumem(run_of(exited, {program("exits"), "exit"}));
  CHECK(status_file(exited).at("exit_status") == 5);
  CHECK(status_file(exited).at("signal").is_null());
  CHECK(status_file(exited).at("pid") == exited.journal().pid());
  CHECK(status_file(exited).at("command") == Line::array({program("exits"), "exit"}));
  aborted.gpumem(run_of(aborted, {program("exits"), "abort"}));
  CHECK(status_file(aborted).at("signal") == SIGABRT);
  CHECK(status_file(aborted).at("exit_status").is_null());
}

TEST_CASE("run: 127 for what is not there, 126 for what cannot be run") {
  Stage stage(Cuda::none);
  write_text(stage.folder() / "plain.txt", "text");
  CHECK(stage.gpumem(run_of(stage, {"no-such-program-anywhere"})).status == 127);
  CHECK(stage.gpumem(run_of(stage, {stage.folder() / "plain.txt"})).status == 126);
}

TEST_CASE("run: adds to LD_PRELOAD instead of replacing it") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("LD_PRELOAD", program("first_interposer.so"));
  const auto outcome = stage.gpumem(run_of(stage, {program("route_linked")}));
  INFO(outcome);
  CHECK(outcome.out.find("first saw 3 allocations") != std::string::npos);
  CHECK(stage.journal().allocations_of(10007).size() == 1);
}

TEST_CASE("run: passes a signal on to the program") {
  Stage stage(Cuda::none);
  auto argv =
      run_of(stage, {"sh", "-c", "trap 'echo caught; exit 9' TERM; echo ready >&2; while :; do sleep 0.05; done"});
  argv.insert(argv.begin(), collector());
  const auto outcome = stage.run({argv, stage.bare_environment(), {}, std::chrono::seconds(20), [](int pid) {
                                    usleep(700'000);
                                    kill(pid, SIGTERM);
                                  }});
  INFO(outcome);
  CHECK(outcome.out == "caught\n");
  CHECK(outcome.status == 9);
}

TEST_CASE("run: path prints the file for LD_PRELOAD") {
  Stage stage(Cuda::none);
  const auto outcome = stage.gpumem({"path"});
  CHECK(outcome.status == 0);
  CHECK(std::filesystem::equivalent(outcome.out.substr(0, outcome.out.find('\n')), shim()));
}
