// However a process ends, and whatever it forks, the journal holds what happened and says how far it got.
#include <algorithm>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

Journal ended(Stage& stage, const char* way) {
  stage.run_traced({program("exits"), way});
  const auto journal = stage.journal();
  CHECK(journal.allocations_of(7013).size() == 1);
  return journal;
}

}  // namespace

TEST_CASE("ends: a process that reaches its own end says so") {
  NEEDS(driver);
  NEEDS(nvcc);
  for (const char* way : {"return", "exit"}) {
    INFO(way);
    Stage stage;
    const auto journal = ended(stage, way);
    REQUIRE(journal.has_end());
    const auto end = journal.of_type("end")[0];
    CHECK(end.at("events") == journal.of_type("event").size());
    CHECK(end.at("failures") == 0);
    CHECK(end.at("calls").at("cuMemAlloc_v2") == 1);
    CHECK(end.at("lost").at("lines") == 0);
  }
}

TEST_CASE("ends: a process that does not reach its end leaves its events all the same") {
  NEEDS(driver);
  NEEDS(nvcc);
  for (const char* way : {"_exit", "abort", "segfault", "exec"}) {
    INFO(way);
    Stage stage;
    CHECK_FALSE(ended(stage, way).has_end());
  }
}

TEST_CASE("ends: without GPUMEM_QUIET one line on stderr names the journal") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  auto environment = stage.traced_environment();
  environment.erase("GPUMEM_QUIET");
  const auto outcome = stage.run({{program("exits"), "return"}, environment});
  INFO(outcome);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(outcome.err.find(stage.journals().string()) != std::string::npos);
}

TEST_CASE("ends: GPUMEM_DISABLE=1 leaves no journal") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_DISABLE", "1");
  CHECK(stage.run_traced({program("exits"), "return"}) == stage.run_bare({program("exits"), "return"}));
  CHECK(read_journals(stage.journals()).empty());
}

TEST_CASE("ends: by default journals go to ./gpumem of the working directory, readable by their owner only") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  auto environment = stage.traced_environment();
  environment.erase("GPUMEM_DIR");
  stage.run({{program("exits"), "return"}, environment});
  const auto journal = read_only_journal(stage.folder() / "gpumem");
  using std::filesystem::perms;
  CHECK((std::filesystem::status(journal.file).permissions() & perms::all) == (perms::owner_read | perms::owner_write));
}

TEST_CASE("ends: a forked child that uses no CUDA leaves no journal, and the parent's is untouched by it") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.run_traced({program("forked"), "idle"});
  const auto journal = stage.journal();
  CHECK(journal.allocations_of(8209).size() == 1);
  CHECK(journal.allocations_of(16411).size() == 1);
  CHECK(journal.of_type("end").size() == 1);
  for (const auto& line : journal.of_type("event")) CHECK(line.at("tid") == journal.pid());
}

TEST_CASE("ends: a forked child that uses CUDA has a journal of its own, which names its parent's") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.run_traced({program("forked"), "uses_cuda"});
  const auto journals = read_journals(stage.journals());
  REQUIRE(journals.size() == 2);
  const bool child_first = !journals[0].process().at("forked_from").is_null();
  const auto &child = journals[child_first ? 0 : 1], &parent = journals[child_first ? 1 : 0];
  const auto origin = child.process().at("forked_from");
  REQUIRE_FALSE(origin.is_null());
  CHECK(origin.at("pid") == parent.pid());
  CHECK(origin.at("journal") == parent.file.filename().string());
  CHECK(origin.at("initialized") == true);
  CHECK(child.process().at("ppid") == parent.pid());
  CHECK(parent.allocations_of(8209).size() == 1);
  CHECK(parent.allocations_of(16411).size() == 1);

  // The driver refuses a child whose parent had started it; nothing of the parent's is the child's.
  CHECK(child.events("alloc").empty());
  CHECK(child.live_at_end().empty());
  REQUIRE_FALSE(child.failures().empty());
  CHECK(child.failures()[0].at("api") == "cuInit");
  CHECK(child.failures()[0].at("name") == "CUDA_ERROR_NOT_INITIALIZED");
  CHECK(child.failures()[0].at("first") == true);
  CHECK(child.of_type("end").at(0).at("calls").at("cuInit") == 1);

  std::size_t before_fork = 0;
  for (const auto& line : parent.of_type("event")) {
    ++before_fork;
    if (line.at("op") == "alloc") break;
  }
  CHECK(origin.at("events") == before_fork);
}

TEST_CASE("ends: a child that is the first to use CUDA is recorded as any process") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.run_traced({program("forked"), "first_in_child"});
  const auto journal = stage.journal();
  CHECK(journal.allocations_of(4099).size() == 1);
  CHECK(journal.failures().empty());
  CHECK(journal.has_end());
}
