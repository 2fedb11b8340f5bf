// The commands that read journals, on what real programs have left behind.
#include "stage.hpp"

using namespace gpumem::test;

namespace {

bool contains(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("report: names the functions of the leak, of the peak and of the failure") {
  NEEDS(driver);
  NEEDS(runtime);
  Stage stage;
  stage.run_traced({program("training_shared")});

  const auto leaks = stage.gpumem({"leaks", stage.journals()});
  INFO(leaks);
  CHECK(leaks.status == 0);
  CHECK(contains(leaks.out, "load_weights"));
  CHECK_FALSE(contains(leaks.out, "train_step"));

  const auto peak = stage.gpumem({"peak", stage.journals()});
  INFO(peak);
  CHECK(peak.status == 0);
  CHECK(contains(peak.out, "train_step"));
  CHECK(contains(peak.out, "load_weights"));

  const auto failures = stage.gpumem({"failures", stage.journals()});
  INFO(failures);
  CHECK(failures.status == 0);
  CHECK(contains(failures.out, "evaluate"));
  CHECK(contains(failures.out, "cudaMalloc"));

  const auto report = stage.gpumem({"report", stage.journals()});
  INFO(report);
  CHECK(report.status == 0);
  for (const char* words : {"load_weights", "train_step", "evaluate", "training_shared"})
    CHECK(contains(report.out, words));
}

TEST_CASE("report: JSON carries the same numbers, exactly") {
  NEEDS(driver);
  NEEDS(runtime);
  Stage stage;
  stage.run_traced({program("training_shared")});
  for (const char* command : {"report", "leaks", "peak", "failures"}) {
    const auto outcome = stage.gpumem({command, "--format", "json", stage.journals()});
    INFO(outcome);
    REQUIRE(outcome.status == 0);
    const auto document = Line::parse(outcome.out);
    CHECK(document.contains("schema_version"));
  }
  CHECK(contains(stage.gpumem({"peak", "--format", "json", stage.journals()}).out,
                 std::to_string(1000003 + 7 * 2000003)));
  CHECK(contains(stage.gpumem({"leaks", "--format", "json", stage.journals()}).out, "1000003"));
  CHECK(contains(stage.gpumem({"failures", "--format", "json", stage.journals()}).out,
                 std::to_string((1ull << 50) + 17)));
}

TEST_CASE("report: the demonstration's three faults are found") {
  NEEDS(driver);
  Stage stage;
  CHECK(stage.gpumem({"run", "-o", stage.journals(), "--quiet", "--", demo()}).status == 0);
  const auto report = stage.gpumem({"report", stage.journals()});
  INFO(report);
  CHECK(report.status == 0);
  CHECK(contains(report.out, "cache_batch"));
  CHECK(contains(report.out, "make_activations"));
  CHECK(contains(report.out, "evaluate"));
}
