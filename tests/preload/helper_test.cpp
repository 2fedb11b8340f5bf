// The helper that looks at the machine: the program does not notice it, and nothing is left of it.
#include <csignal>
#include <sstream>
#include <thread>

#include "helper.hpp"

using namespace gpumem::test;

namespace {

// Root in namespaces of its own, as a container would be.
std::vector<std::string> in_namespaces(const std::string& script) {
  return {"unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-ec", script};
}

std::string missing_namespaces() {
  const auto outcome = run({in_namespaces("true"), plain_environment()});
  return outcome.status == 0 ? "" : "no namespaces may be made here: " + outcome.err;
}

std::vector<int> witnesses(const std::filesystem::path& list) {
  std::vector<int> pids;
  if (!std::filesystem::exists(list)) return pids;
  std::istringstream text(read_text(list));
  for (int pid; text >> pid;) pids.push_back(pid);
  return pids;
}

template <class Condition>
bool comes_true(Condition&& condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

bool all_gone(const std::vector<int>& pids) {
  for (const int pid : pids)
    if (kill(pid, 0) == 0) return false;
  return true;
}

}  // namespace

TEST_CASE("helper: it raises no signal, ends no wait and changes nothing of the process") {
  NEEDS(scripted_driver);
  for (const char* situation : {"observed", "subreaper", "ignoring", "no_zombies", "waiting", "closed_streams"}) {
    Stage stage;
    const auto journal = run_host(with_witness(stage), situation);
    INFO(situation);
    CHECK(witnessed(journal).at("descriptors") == 0);
  }
}

TEST_CASE("helper: nor does the first process of a container") {
  NEEDS(scripted_driver);
  if (const auto reason = missing_namespaces(); !reason.empty()) return skipped(reason);
  Stage stage;
  with_witness(stage);
  const auto argv = in_namespaces("exec " + program("failing_host") + " observed");
  const auto bare = stage.run_bare(argv);
  CHECK(stage.run_traced(argv) == bare);
  CHECK(bare.out.find("ended: 0\nthe same: yes") != std::string::npos);
  const auto journal = stage.journal();
  CHECK(journal.process().at("pid") == 1);
  CHECK(witnessed(journal).at("own_session") == true);
}

TEST_CASE("helper: in a container whose /proc is another's the program goes on, and what can be said is said") {
  NEEDS(scripted_driver);
  if (const auto reason = missing_namespaces(); !reason.empty()) return skipped(reason);
  Stage stage;
  stage.script(failing_start);
  for (const char* proc : {"umount -l /proc", "mount -t tmpfs none /proc"}) {
    const auto argv = in_namespaces(std::string(proc) + "; exec " + program("failing_host") + " ignoring");
    const auto bare = stage.run_bare(argv);
    INFO(proc << bare);
    CHECK(bare.status == 0);
    CHECK(stage.run_traced(argv) == bare);
  }
  for (const auto& journal : read_journals(stage.journals())) {
    CHECK(only(journal, "state").at("limits").contains("nproc"));
    CHECK(only(journal, "probe").at("status") == "ok");
  }
}

TEST_CASE("helper: it starts as a fresh program, with nothing of this one but the environment") {
  NEEDS(scripted_driver);
  Stage stage;
  with_witness(stage).set("KEPT", "1").set("CUDA_VISIBLE_DEVICES", "5").set("LD_BIND_NOW", "1");
  stage.set("GPUMEM_PROBE_TIMEOUT_MS", "1234");
  const auto said = witnessed(run_host(stage, "observed"));
  CHECK(said == Line{{"arguments", "probe --format json --deadline 1234"},
                     {"descriptors", 0},
                     {"nowhere", true},
                     {"signals", true},
                     {"limits", true},
                     {"own_session", true},
                     {"preload", false},
                     {"disabled", true},
                     {"kept", true},
                     {"killed_first", true},
                     {"visible", "7"}});
}

TEST_CASE("helper: a program whose limits leave no room for it goes on, and the error is named") {
  NEEDS(scripted_driver);
  Stage processes, memory;
  auto script = failing_start;
  script["rules"][0]["nth"] = 2;
  script["rules"][0]["times"] = 100;
  not_started(run_host(with_witness(processes).script(script), "no_processes"), "EAGAIN");
  not_started(run_host(with_witness(memory).script(script), "no_memory"), "ENOMEM");
}

TEST_CASE("helper: a limit that the program chose for itself does not stop it") {
  NEEDS(scripted_driver);
  Stage stage;
  auto script = failing_start;
  script["rules"][0]["nth"] = 2;
  CHECK(witnessed(run_host(with_witness(stage).script(script), "some_memory")).at("limits") == true);
}

TEST_CASE("helper: a program that has locked itself up goes on without it") {
  NEEDS(scripted_driver);
  if (getuid() != 0) return skipped("chroot is root's");
  Stage stage;
  auto script = failing_start;
  script["rules"][0]["nth"] = 2;
  std::filesystem::create_directory(stage.folder() / "empty");
  stage.script(script).set("EMPTY_ROOT", stage.folder() / "empty");
  not_started(run_host(stage, "empty_root"), "there is no gpumem beside the library nor in ../bin");
}

TEST_CASE("helper: it is not the first process of a namespace that the program has made for its children") {
  NEEDS(scripted_driver);
  Stage stage;
  const auto outcome = stage.script(failing_start).run_bare({program("failing_host"), "other_namespace"});
  if (outcome.out.find("unshare:") != std::string::npos) return skipped("no pid namespace may be made: " + outcome.out);
  CHECK(outcome.out.find("fork: works, first of its namespace: yes") != std::string::npos);
  not_started(run_host(stage, "other_namespace"), "children go into another pid namespace");
}

TEST_CASE("helper: signals of the program are handled while it waits, and may leave the call by a jump") {
  NEEDS(scripted_driver);
  for (const char* situation : {"interrupted", "jump"}) {
    Stage stage;
    run_host(with_witness(stage), situation);
  }
}

TEST_CASE("helper: a child that a handler forks meanwhile does not wait for it") {
  NEEDS(scripted_driver);
  Stage stage;
  stage.script(failing_start).set("GPUMEM_PROBE", script_in(stage, "sleep 1; echo '{}'"));
  stage.set("GPUMEM_PROBE_TIMEOUT_MS", "20000");
  run_host(stage, "forking_handler");
}

TEST_CASE("helper: one that hangs is ended with all that it started, and the program goes on") {
  NEEDS(scripted_driver);
  Stage stage;
  const auto list = stage.folder() / "pids";
  with_witness(stage).set("WITNESS_PIDS", list).set("GPUMEM_PROBE_TIMEOUT_MS", "200");
  const auto probe = only(run_host(stage, "observed"), "probe");
  CHECK(probe.at("status") == "timed out");
  CHECK(probe.at("took") >= 200'000'000);
  REQUIRE(witnesses(list).size() == 2);
  CHECK(all_gone(witnesses(list)));
}

TEST_CASE("helper: one whose child stays behind is taken at its word, and the child is ended") {
  NEEDS(scripted_driver);
  Stage stage;
  const auto list = stage.folder() / "pids";
  stage.script(failing_start)
      .set("GPUMEM_PROBE", script_in(stage, "sleep 60 > /dev/null & echo $! > " + list.string() + "\necho '{}'"));
  CHECK(witnessed(run_host(stage, "subreaper")) == Line::object());
  REQUIRE(witnesses(list).size() == 1);
  CHECK(all_gone(witnesses(list)));
}

TEST_CASE("helper: of a program that is killed meanwhile nothing is left but a readable journal") {
  NEEDS(scripted_driver);
  Stage stage;
  const auto list = stage.folder() / "pids";
  with_witness(stage).set("WITNESS_PIDS", list).set("GPUMEM_PROBE_TIMEOUT_MS", "30000");
  const auto outcome = stage.run(
      {{program("failing_host"), "observed"}, stage.traced_environment(), {}, std::chrono::seconds(20), [&](int pid) {
         comes_true([&] { return witnesses(list).size() == 2; });
         kill(pid, SIGKILL);
       }});
  CHECK_FALSE(outcome.timed_out);
  CHECK(outcome.signal == SIGKILL);
  // Its child is nobody's: only the helper itself is watched by the kernel.
  const auto pids = witnesses(list);
  REQUIRE(pids.size() == 2);
  CHECK(comes_true([&] { return kill(pids[0], 0) != 0 || kill(pids[1], 0) != 0; }));
  for (const int pid : pids) kill(pid, SIGKILL);
  const auto journal = stage.journal();
  CHECK(journal.failures().size() == 1);
  CHECK(journal.of_type("state").size() == 1);
  CHECK(journal.of_type("probe").empty());
}

TEST_CASE("helper: a terminal's interrupt reaches the program and not the helper") {
  NEEDS(scripted_driver);
  Stage stage;
  with_witness(stage);
  const auto outcome = stage.run({{"sh", "-c", "trap '' INT; exec \"$0\" observed", program("failing_host")},
                                  stage.traced_environment(),
                                  {},
                                  std::chrono::seconds(60),
                                  [&](int pid) {
                                    comes_true([&] { return std::filesystem::exists(stage.journals()); });
                                    for (int i = 0; i < 30; ++i) {
                                      kill(-pid, SIGINT);
                                      std::this_thread::sleep_for(std::chrono::milliseconds(10));
                                    }
                                  }});
  CHECK(outcome.status == 0);
  CHECK(witnessed(stage.journal()).at("signals") == true);
}

TEST_CASE("helper: a process of two gigabytes is not copied for it") {
  NEEDS(scripted_driver);
  Stage stage;
  const auto journal = run_host(with_witness(stage), "big");
  CHECK(only(journal, "state").at("memory").at("resident") > 2'000'000'000);
  witnessed(journal);
}
