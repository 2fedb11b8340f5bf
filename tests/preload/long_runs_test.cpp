// Very many calls and very many processes: what they leave stays bounded, and all of it is readable.
#include <signal.h>

#include <iostream>
#include <random>
#include <thread>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

// Runs gpumem with a limit of address space, which bounds its memory from above.
Outcome gpumem_within(const Stage& stage, long kib, const std::string& command, const std::filesystem::path& path) {
  return stage.run({{"sh", "-c", "ulimit -v \"$0\"; exec \"$@\"", std::to_string(kib), collector(), command, path},
                    stage.bare_environment(),
                    {},
                    std::chrono::seconds(600)});
}

}  // namespace

TEST_CASE("long runs: millions of blocks that come and go leave a bounded journal, which is read in bounded memory") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const long megabytes = full() ? 256 : 16;
  const std::string pairs = full() ? "5000000" : "200000";
  stage.set("GPUMEM_JOURNAL_MAX", std::to_string(megabytes) + "M");
  const auto outcome =
      stage.run({{program("pairs"), pairs}, stage.traced_environment(), {}, std::chrono::seconds(1200)});
  INFO(outcome);
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("0 failures") != std::string::npos);
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(stage.journals())) bytes += entry.file_size();
  CHECK(bytes <= static_cast<std::uintmax_t>(megabytes) << 20);
  CHECK(bytes >= static_cast<std::uintmax_t>(megabytes) << 19);
  // docs/LIMITS.md states this bound.
  constexpr long kib = 128 * 1024;
  for (const char* command : {"report", "leaks", "peak"}) {
    const auto report = gpumem_within(stage, kib, command, stage.journals());
    INFO(report);
    CHECK(report.status == 0);
    if (command == std::string("report")) CHECK(report.out.find("were dropped") != std::string::npos);
  }
}

TEST_CASE("long runs: many processes killed at random leave nothing that stops the next one or the report") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  std::mt19937 random(20261130);
  std::uniform_int_distribution<int> delay(0, 60);
  constexpr int at_once = 12;
  for (int round = 0; round < (full() ? 50 : 4); ++round) {
    std::vector<std::thread> processes;
    std::vector<Outcome> outcomes(at_once);
    for (auto& outcome : outcomes)
      processes.emplace_back([&stage, &outcome, wait = delay(random)] {
        outcome = stage.run({{program("pairs"), "1000000000"},
                             stage.traced_environment(),
                             {},
                             std::chrono::seconds(60),
                             [wait](int pid) {
                               std::this_thread::sleep_for(std::chrono::milliseconds(wait));
                               kill(pid, SIGKILL);
                             }});
      });
    for (auto& process : processes) process.join();
    for (const auto& outcome : outcomes) CHECK(outcome.signal == SIGKILL);
  }
  // What a kill before the first line leaves: a file without a byte, and one whose bytes are all padding.
  write_text(stage.journals() / "gpumem-killed-1-1-0.0.jsonl", "");
  write_text(stage.journals() / "gpumem-killed-2-1-0.0.jsonl", std::string(4096, '\0'));
  const auto begin = std::chrono::steady_clock::now();
  CHECK(stage.run_traced({program("exits"), "return"}) == stage.run_bare({program("exits"), "return"}));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  const auto journals = read_journals(stage.journals());
  std::size_t killed = 0, ended = 0;
  for (const auto& journal : journals) {
    if (journal.lines.empty()) continue;
    journal.has_end() ? ++ended : ++killed;
  }
  CHECK(ended == 1);
  CHECK(killed > 0);
  const auto report = stage.gpumem({"report", stage.journals()});
  INFO(report);
  CHECK(report.status == 0);
  CHECK(report.out.find(std::to_string(killed + ended) + " journals in ") != std::string::npos);
}
