// Many processes at once, and what each of them says of its own memory.
#include <set>

#include "stage.hpp"

using namespace gpumem::test;

TEST_CASE("many processes: three hundred that start at once each leave a whole journal") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const std::string all = "for i in $(seq 300); do \"$0\" return > /dev/null & done; wait";
  const auto outcome =
      stage.run({{"bash", "-c", all, program("exits")}, stage.traced_environment(), {}, std::chrono::seconds(300)});
  REQUIRE(outcome.status == 0);
  CHECK(outcome.err.empty());
  const auto journals = read_journals(stage.journals());
  CHECK(journals.size() == 300);
  std::set<int> processes;
  for (const auto& journal : journals) {
    processes.insert(journal.pid());
    CHECK(journal.torn == 0);
    CHECK(journal.has_end());
  }
  CHECK(processes.size() == 300);
}

TEST_CASE("many processes: each tells its own memory, pinned bytes among it") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_SAMPLE_EVERY", "1");
  REQUIRE(stage.run_traced({program("churn"), "20000", "10"}).status == 0);
  const auto lines = stage.journal().of_type("host");
  REQUIRE(!lines.empty());
  CHECK(lines[0].at("why") == "context");
  for (const auto& line : lines) {
    CHECK(line.at("resident") > 1'000'000);
    CHECK(line.at("available") > 1'000'000);
    CHECK(line.contains("pinned"));
    if (line.contains("group")) CHECK(line.at("group").at("limit") > 0);
  }
  CHECK(lines.size() > 1);
}
