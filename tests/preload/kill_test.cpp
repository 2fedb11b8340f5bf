// A process is killed in the middle: whatever call had returned to it is in the journal, and the report says how it
// ended.
#include <signal.h>

#include <map>
#include <random>
#include <thread>

#include "../programs/acknowledged.hpp"
#include "stage.hpp"

using namespace gpumem::test;

namespace {

struct Acknowledged {
  std::uint64_t thread, allocations, frees;
};

std::vector<Acknowledged> read_acknowledged(const std::filesystem::path& file) {
  const auto bytes = read_text(file);
  std::vector<Acknowledged> work(bytes.size() / sizeof(Acknowledged));
  static_assert(sizeof(Acknowledged) == sizeof(AcknowledgedWork));
  std::copy_n(bytes.data(), work.size() * sizeof(Acknowledged), reinterpret_cast<char*>(work.data()));
  return work;
}

// Kills the program some milliseconds after its threads have begun to work.
Outcome run_and_kill(const Stage& stage, std::vector<std::string> argv, const std::filesystem::path& file,
                     int delay_ms) {
  return stage.run({std::move(argv), stage.traced_environment(), {}, std::chrono::seconds(60), [&](int pid) {
                      for (int waited = 0; waited < 10'000; ++waited) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                        if (!std::filesystem::exists(file)) continue;
                        bool all_work = true;
                        const auto work = read_acknowledged(file);
                        for (const auto& thread : work) all_work &= thread.allocations > 0;
                        if (all_work && !work.empty()) break;
                      }
                      std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
                      kill(pid, SIGKILL);
                    }});
}

void check_everything_is_there(const Journal& journal, const std::vector<Acknowledged>& work) {
  std::map<std::uint64_t, Acknowledged> recorded;
  for (const auto& line : journal.of_type("event")) {
    auto& thread = recorded[line.at("tid").get<std::uint64_t>()];
    if (line.at("op") == "alloc") ++thread.allocations;
    if (line.at("op") == "free") ++thread.frees;
  }
  for (const auto& done : work) {
    INFO("thread " << done.thread);
    CHECK(recorded[done.thread].allocations >= done.allocations);
    CHECK(recorded[done.thread].frees >= done.frees);
    // More than what was acknowledged is the call that was under way, and no more than that.
    CHECK(recorded[done.thread].allocations <= done.allocations + 1);
    CHECK(recorded[done.thread].frees <= done.frees + 1);
  }
  CHECK(journal.torn <= acknowledging_threads);
  CHECK_FALSE(journal.has_end());
}

}  // namespace

TEST_CASE("kill: every acknowledged event is in the journal") {
  NEEDS(driver);
  NEEDS(nvcc);
  std::mt19937 random(20261130);
  std::uniform_int_distribution<int> delay(0, 30);
  for (int round = 0; round < (full() ? 1000 : 20); ++round) {
    INFO("round " << round);
    Stage stage;
    const auto file = stage.folder() / "acknowledged";
    const auto outcome = run_and_kill(stage, {program("killed"), file}, file, delay(random));
    REQUIRE(outcome.signal == SIGKILL);
    check_everything_is_there(stage.journal(), read_acknowledged(file));
  }
}

// Of a journal whose middle is gone the counters of its checkpoint say what there was: what has been freed since the
// beginning, and what is live.
TEST_CASE("kill: in the middle of a new segment nothing is missing, and what was live is known") {
  NEEDS(driver);
  NEEDS(nvcc);
  std::mt19937 random(20261201);
  std::uniform_int_distribution<int> delay(0, 60);
  int with_segments = 0, within_a_checkpoint = 0;
  for (int round = 0; round < (full() ? 1000 : 20); ++round) {
    INFO("round " << round);
    Stage stage;
    stage.set("GPUMEM_JOURNAL_MAX", "1M");
    const auto file = stage.folder() / "acknowledged";
    const auto outcome = run_and_kill(stage, {program("killed"), file, "40"}, file, delay(random));
    REQUIRE(outcome.signal == SIGKILL);
    const auto journal = stage.journal();
    std::map<std::uint64_t, std::int64_t> live;
    for (const auto& block : journal.live_at_end()) ++live[block.at("n").get<std::uint64_t>()];
    const auto work = read_acknowledged(file);
    for (std::size_t i = 0; i < work.size(); ++i) {
      const auto held = static_cast<std::int64_t>(work[i].allocations - work[i].frees);
      INFO("thread " << i << " acknowledged " << work[i].allocations << " and " << work[i].frees);
      CHECK(std::abs(live[1009 + 2 * i] - held) <= 1);
    }
    std::uint64_t highest = 0, allocations = 0;
    for (const auto& line : journal.events("alloc")) highest = std::max(highest, line.value("i", std::uint64_t{0}));
    for (const auto& thread : work) allocations += thread.allocations;
    CHECK(highest >= allocations);
    CHECK(highest <= allocations + acknowledging_threads);
    CHECK(journal.torn <= acknowledging_threads);
    const auto checkpoints = journal.of_type("checkpoint");
    with_segments += checkpoints.empty() ? 0 : 1;
    within_a_checkpoint += !checkpoints.empty() && checkpoints.back().at("part") == "begin" ? 1 : 0;
    std::uintmax_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(stage.journals())) bytes += entry.file_size();
    CHECK(bytes <= 1u << 20);
  }
  CHECK(with_segments > 10);
  if (full()) CHECK(within_a_checkpoint > 3);
}

TEST_CASE("kill: the report counts what was recorded and says that the process did not reach its end") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto file = stage.folder() / "acknowledged";
  run_and_kill(stage, {program("killed"), file}, file, 20);
  const auto report = stage.gpumem({"report", stage.journals()});
  INFO(report);
  CHECK(report.status == 0);
  const bool says_so =
      report.out.find("killed") != std::string::npos || report.out.find("vanished") != std::string::npos;
  CHECK(says_so);
}

TEST_CASE("kill: under gpumem run the report knows the signal") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto outcome = stage.gpumem(
      {"run", "-o", stage.journals(), "--quiet", "--", "sh", "-c", program("exits") + " return; kill -9 $$"});
  CHECK(outcome.signal == SIGKILL);
  const auto killed =
      stage.gpumem({"run", "-o", stage.journals() / "second", "--quiet", "--", program("exits"), "segfault"});
  CHECK(killed.signal == SIGSEGV);
  const auto report = stage.gpumem({"report", stage.journals() / "second"});
  INFO(report);
  CHECK(report.out.find("SIGSEGV") != std::string::npos);
}
