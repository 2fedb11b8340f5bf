// At a failure the shim says what the process knows of itself, and lets a helper look at the machine: what is said.
// That the program notices nothing is in helper_test.cpp.
#include <csignal>

#include "helper.hpp"

using namespace gpumem::test;

namespace {

constexpr std::uint64_t ns_per_ms = 1'000'000;

}  // namespace

TEST_CASE(
    "forensics: the first failing start is followed by what the process and the machine say, on the same thread") {
  NEEDS(scripted_driver);
  Stage stage;
  stage.script(failing_start);
  const auto journal = run_host(stage, "observed");
  REQUIRE(journal.failures().size() == 1);
  const auto failure = journal.failures()[0], state = only(journal, "state"), probe = only(journal, "probe");
  CHECK(state.at("tid") == failure.at("tid"));
  CHECK(probe.at("tid") == failure.at("tid"));
  CHECK(failure.at("ns") <= state.at("ns"));
  CHECK(state.at("ns") <= probe.at("ns"));
  for (const char* limit : {"as", "data", "nofile", "memlock", "nproc"}) CHECK(state.at("limits").contains(limit));
  CHECK(state.at("threads") == 1);
  CHECK(state.at("descriptors") >= 3);
  CHECK(state.at("memory").at("resident") > 100'000);
  CHECK(state.at("memory").at("virtual") > state.at("memory").at("resident"));
  CHECK(probe.at("status") == "ok");
  CHECK(probe.at("took") > 0);
  const auto said = Line::parse(probe.at("said").get<std::string>());
  CHECK(said.at("nvml").at("devices").size() == 1);
  CHECK(said.at("deadline_ms") == 2000);
}

TEST_CASE("forensics: an allocation that fails is followed by a probe, a wrong argument by none") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.run_traced({program("route_lookup"), "dlsym"});
  const auto journal = stage.journal();
  const auto failures = journal.failures();
  REQUIRE(failures.size() == 2);
  CHECK(failures[0].at("code") == 2);
  CHECK(failures[1].at("code") == 1);
  CHECK(journal.of_type("state").size() == 1);
  CHECK(only(journal, "probe").at("ns") < failures[1].at("ns"));
}

TEST_CASE("forensics: a first failure that is the program's own mistake has a state and no probe") {
  NEEDS(scripted_driver);
  Stage stage;
  stage.script({{"rules", {{{"call", "cuInit"}, {"code", 1}}}}});
  const auto journal = run_host(stage, "observed");
  CHECK(journal.of_type("state").size() == 1);
  CHECK(journal.of_type("probe").empty());
}

TEST_CASE("forensics: what the driver wrote to its own log about a failure is told with the state") {
  NEEDS(scripted_driver);
  Stage stage;
  auto script = failing_start;
  script["rules"][0]["log"] = "no \"room\" here";
  const auto log = only(run_host(stage.script(script), "observed"), "state").at("log").get<std::string>();
  CHECK(log.find("no \"room\" here") != std::string::npos);
}

TEST_CASE("forensics: an NVML that hangs costs no more than the deadline, and is told of") {
  NEEDS(scripted_driver);
  Stage stage;
  auto script = failing_start;
  script["rules"].push_back({{"call", "nvmlInit_v2"}, {"delay_ms", 60000}});
  stage.script(script).set("GPUMEM_PROBE_TIMEOUT_MS", "300");
  const auto probe = only(run_host(stage, "observed"), "probe");
  CHECK(probe.at("status") == "ok");
  CHECK(probe.at("took") >= 300 * ns_per_ms);
  const auto said = Line::parse(probe.at("said").get<std::string>());
  CHECK(said.at("nvml").at("status") == "timed out");
  CHECK(said.at("system").at("status") == "ok");
}

TEST_CASE("forensics: when CUDA has gone at the end of the process, nothing is looked at") {
  NEEDS(scripted_driver);
  Stage stage;
  const auto journal = run_host(stage, "at_exit");
  REQUIRE(journal.failures().size() == 1);
  CHECK(journal.failures()[0].at("code") == 4);
  CHECK(journal.of_type("state").empty());
}

TEST_CASE("forensics: GPUMEM_PROBE=0 runs nothing, and says so once") {
  NEEDS(scripted_driver);
  Stage stage;
  stage.script(failing_start).set("GPUMEM_PROBE", "0");
  const auto probe = only(run_host(stage, "many"), "probe");
  CHECK(probe.at("status") == "off");
  CHECK_FALSE(probe.contains("took"));
}

TEST_CASE("forensics: states of one kind of failure come once a second") {
  NEEDS(scripted_driver);
  Stage stage;
  stage.script(failing_start).set("GPUMEM_PROBE", "0");
  const auto journal = run_host(stage, "many");
  CHECK(journal.failures().size() == 400);
  const auto states = journal.of_type("state");
  CHECK(states.size() >= 4);
  for (std::size_t i = 1; i < states.size(); ++i)
    CHECK(states[i].at("ns").get<std::uint64_t>() - states[i - 1].at("ns").get<std::uint64_t>() > 990 * ns_per_ms);
}

TEST_CASE("forensics: all probes together take about a hundredth of the time") {
  NEEDS(scripted_driver);
  Line rules = Line::array();
  for (int i = 1; i <= 400; ++i) rules.push_back({{"call", "cuInit"}, {"nth", i}, {"code", 2000 + i}});
  Lines probes;
  // A second one comes within the four seconds that a run takes, where the first has taken less than 40 ms.
  for (int run = 0; run < 5 && probes.size() < 2; ++run) {
    Stage stage;
    stage.script({{"rules", rules}}).set("GPUMEM_PROBE", script_in(stage, "echo '{}'"));
    const auto journal = run_host(stage, "many");
    CHECK(journal.of_type("state").size() == 400);
    probes = journal.of_type("probe");
  }
  CHECK(probes.size() >= 2);
  for (std::size_t i = 1; i < probes.size(); ++i) {
    const std::uint64_t before = probes[i - 1].at("ns"), took_before = probes[i - 1].at("took"),
                        began = probes[i].at("ns").get<std::uint64_t>() - probes[i].at("took").get<std::uint64_t>();
    CHECK(began - before >= 98 * took_before);
  }
}

TEST_CASE("forensics: of sixteen threads that fail at once one looks, and the others go on") {
  NEEDS(scripted_driver);
  Stage stage;
  Line rules = Line::array();
  for (int i = 1; i <= 16; ++i) rules.push_back({{"call", "cuInit"}, {"nth", i}, {"code", 2000 + i}});
  stage.script({{"rules", rules}}).set("GPUMEM_PROBE", program("helper_witness"));
  const auto journal = run_host(stage, "threads");
  CHECK(journal.failures().size() == 16);
  const auto probe = only(journal, "probe");
  CHECK(probe.at("status") == "ok");
  int during = 0;
  for (const auto& failure : journal.failures())
    during += failure.at("ns") > probe.at("ns").get<std::uint64_t>() - probe.at("took").get<std::uint64_t>() &&
              failure.at("ns") < probe.at("ns");
  CHECK(during > 0);
}

TEST_CASE("forensics: a forked child looks for itself") {
  NEEDS(scripted_driver);
  Stage stage;
  stage.script(failing_start);
  CHECK(stage.run_traced({program("failing_host"), "forked"}) == stage.run_bare({program("failing_host"), "forked"}));
  const auto journals = read_journals(stage.journals());
  REQUIRE(journals.size() == 2);
  for (const auto& journal : journals) CHECK(only(journal, "probe").at("status") == "ok");
}

TEST_CASE("forensics: what a probe prints that is no object is not taken over, and the reason is told") {
  NEEDS(scripted_driver);
  const std::pair<std::string, std::string> probes[] = {
      {"echo hello", "what it printed is no object"},
      {"exit 3", "it ended with status 3"},
      {"kill -9 $$", "it was ended by signal 9"},
      {"yes | tr -d '\\n' | head -c 10000000; echo", "its line is too long"},
      {"printf '{'", "it ended with status 0"},
  };
  for (const auto& [commands, reason] : probes) {
    INFO(commands);
    Stage stage;
    stage.script(failing_start).set("GPUMEM_PROBE", script_in(stage, commands));
    const auto probe = only(run_host(stage, "observed"), "probe");
    CHECK(probe.at("status") == "failed");
    CHECK(probe.at("reason") == reason);
    CHECK_FALSE(probe.contains("said"));
  }
}

TEST_CASE("forensics: a probe that cannot be executed is told of by the name of the error") {
  NEEDS(scripted_driver);
  for (const auto& [path, reason] : {std::pair<std::string, std::string>{"/nonexistent/gpumem", "ENOENT"},
                                     {"/proc/self/status", "EACCES"},
                                     {"/", "EACCES"}}) {
    Stage stage;
    stage.script(failing_start).set("GPUMEM_PROBE", path);
    const auto probe = only(run_host(stage, "observed"), "probe");
    CHECK(probe.at("status") == "not started");
    CHECK(probe.at("reason") == reason);
  }
}

TEST_CASE("forensics: a library without gpumem beside it says so") {
  NEEDS(scripted_driver);
  Stage stage;
  const auto alone = stage.folder() / "libgpumemshim.so";
  std::filesystem::copy_file(shim(), alone);
  auto environment = stage.script(failing_start).traced_environment();
  environment["LD_PRELOAD"] = alone;
  stage.run({{program("failing_host"), "observed"}, environment});
  const auto probe = only(stage.journal(), "probe");
  CHECK(probe.at("status") == "not started");
  CHECK(probe.at("reason") == "there is no gpumem beside the library nor in ../bin");
}

TEST_CASE("forensics: gpumem is found beside the library, and in ../bin of it, also by a relative LD_PRELOAD") {
  NEEDS(scripted_driver);
  for (const char* place : {"lib/gpumem", "bin/gpumem"}) {
    Stage stage;
    std::filesystem::create_directory(stage.folder() / "lib");
    std::filesystem::create_directory(stage.folder() / "bin");
    std::filesystem::copy_file(shim(), stage.folder() / "lib/libgpumemshim.so");
    std::filesystem::create_symlink(collector(), stage.folder() / place);
    auto environment = stage.script(failing_start).traced_environment();
    environment["LD_PRELOAD"] = "./lib/libgpumemshim.so";
    stage.run({{program("failing_host"), "observed"}, environment});
    INFO(place);
    CHECK(only(stage.journal(), "probe").at("status") == "ok");
  }
}
